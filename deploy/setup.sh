#!/usr/bin/env bash
# Installs what Vicinity needs, and nothing twice: Debian packages (deploy/packages.txt) and, for
# tests, Python packages that Debian lacks (deploy/python_packages.txt), in a folder of their own.
#
#   deploy/setup.sh          what building and testing need
#   deploy/setup.sh --more   besides, what some tests leave cases out without
#   deploy/setup.sh --run    only what running needs, where binaries come from elsewhere
#   deploy/setup.sh --check  installs nothing; exit status 1 and a list if something is missing
set -euo pipefail

list="$(dirname "${BASH_SOURCE[0]}")/packages.txt"
python_list="$(dirname "${BASH_SOURCE[0]}")/python_packages.txt"
python_folder=/usr/local/lib/vicinity/python # where tests look for them

fail() {
  echo "setup: $*" >&2
  exit 1
}

# The packages of one section of the list, one a line.
packages_of() {
  awk -v wanted="[$1]" '
    { sub(/#.*/, ""); gsub(/[ \t]/, "") }
    /^\[/ { in_section = ($0 == wanted); next }
    in_section && $0 != "" { print }
  ' "$list"
}

# Those of the given packages that are not installed, one a line.
missing_of() {
  local installed
  # dpkg-query fails when it does not know a package: that package is missing.
  installed="$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "$@" \
    2> /dev/null || true)"
  comm -13 <(sed -n 's/^installed //p' <<< "$installed" | sort -u) <(printf '%s\n' "$@" | sort -u)
}

section=build
check_only=false
more=false
for argument in "$@"; do
  case "$argument" in
    --run) section=run ;;
    --more) more=true ;;
    --check) check_only=true ;;
    *) fail "unknown argument '$argument'; see the head of $0" ;;
  esac
done

for tool in apt-get dpkg-query; do
  command -v "$tool" > /dev/null \
    || fail "this is not a Debian-like system ($tool is missing); $list names what to install"
done

# The Python packages of the list that are not in their folder, one a line.
missing_python() {
  local name version
  while IFS='= ' read -r name version _; do
    if [[ "$name" != [a-z]* ]]; then continue; fi
    if [[ ! -d "$python_folder/$name-$version.dist-info" ]]; then echo "$name"; fi
  done < <(sed 's/==/ /' "$python_list")
}

# Bazel knows the headers that there were when it first looked for a compiler, and refuses those of
# packages that came later: then it is to look again. Nothing is built anew where nothing has changed.
renew_toolchain() (
  command -v bazel > /dev/null || exit 0
  cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 0
  base="$(bazel info output_base 2> /dev/null)" || exit 0
  looked="$base/external/@local_config_cc.marker"
  if [[ -e "$looked" && /var/lib/dpkg/status -nt "$looked" ]]; then
    echo "setup: packages have changed since Bazel looked for headers: it looks again"
    bazel sync --configure > /dev/null 2>&1 || fail "bazel sync --configure failed"
  fi
)

mapfile -t packages < <(
  packages_of "$section"
  if $more; then packages_of more; fi
)
mapfile -t missing < <(missing_of "${packages[@]}")
python_missing=()
if [[ $section == build ]]; then mapfile -t python_missing < <(missing_python); fi
if [[ ${#missing[@]} -eq 0 && ${#python_missing[@]} -eq 0 ]]; then
  echo "setup: all ${#packages[@]} packages are installed"
  if [[ $section == build ]] && ! $check_only; then renew_toolchain; fi
  exit 0
fi
if [[ ${#missing[@]} -gt 0 ]]; then
  echo "setup: ${#missing[@]} of ${#packages[@]} packages are missing: ${missing[*]}"
fi
if [[ ${#python_missing[@]} -gt 0 ]]; then
  echo "setup: Python packages are missing: ${python_missing[*]}"
fi
if $check_only; then exit 1; fi

# shellcheck source=/dev/null
. /etc/os-release
if [[ "${ID:-}" != debian || "${VERSION_ID:-}" != 12 ]]; then
  echo "setup: this is ${PRETTY_NAME:-an unknown system}; Vicinity is tested on Debian 12 only" >&2
fi

as_root=()
if [[ "$(id -u)" -ne 0 ]]; then
  command -v sudo > /dev/null || fail "installing packages takes root or sudo"
  as_root=(sudo)
fi

# Waits for another package manager rather than failing, and asks nothing.
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"
}
if [[ ${#missing[@]} -gt 0 ]]; then
  echo "setup: reading the package lists"
  apt update || fail "cannot read the package lists"
  echo "setup: installing; some minutes on a fresh machine"
  apt install --yes --no-install-recommends "${missing[@]}" > /dev/null \
    || fail "cannot install ${missing[*]}"
fi
# Debian's own Python, whose packages these go with; each as the list's checksum says.
if [[ ${#python_missing[@]} -gt 0 ]]; then
  "${as_root[@]}" /usr/bin/python3 -m pip install --quiet --no-deps --require-hashes --upgrade \
    --root-user-action=ignore --target "$python_folder" --requirement "$python_list" \
    || fail "cannot install ${python_missing[*]}"
fi
if [[ $section == build ]]; then renew_toolchain; fi
echo "setup: done"
