#!/usr/bin/env bash
# Installs the Debian packages that Vicinity needs (deploy/packages.txt), and nothing twice.
#
#   deploy/setup.sh          what building and testing need
#   deploy/setup.sh --run    only what running needs, where binaries come from elsewhere
#   deploy/setup.sh --check  installs nothing; exit status 1 and a list if something is missing
set -euo pipefail

list="$(dirname "${BASH_SOURCE[0]}")/packages.txt"

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
for argument in "$@"; do
  case "$argument" in
    --run) section=run ;;
    --check) check_only=true ;;
    *) fail "unknown argument '$argument'; see the head of $0" ;;
  esac
done

for tool in apt-get dpkg-query; do
  command -v "$tool" > /dev/null \
    || fail "this is not a Debian-like system ($tool is missing); $list names what to install"
done

mapfile -t packages < <(packages_of "$section")
mapfile -t missing < <(missing_of "${packages[@]}")
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "setup: all ${#packages[@]} packages are installed"
  exit 0
fi
echo "setup: ${#missing[@]} of ${#packages[@]} packages are missing: ${missing[*]}"
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
echo "setup: reading the package lists"
apt update || fail "cannot read the package lists"
echo "setup: installing; some minutes on a fresh machine"
apt install --yes --no-install-recommends "${missing[@]}" > /dev/null \
  || fail "cannot install ${missing[*]}"
echo "setup: done"
