"""The options of graphs, loaders, samples, walks and writers, as the library describes them.

What Graph, Loader, Writer and methods of Graph take as keywords is the library's to say: its
description gives their signatures and what help() shows, and its errors name the options that there are.
"""

import inspect
import textwrap

from ._library import call_for_json, lib

#: Lists of {"name", "type", "default", "doc"}, as vicinity_options_describe.
GRAPH, LOADER, SAMPLE, WALK, VISITS, PPR, WRITER = (
    call_for_json(lib.vicinity_options_describe)[each]
    for each in ("graph", "loader", "sample", "walk", "visits", "ppr", "writer"))


def default(options, name):
    """Of the option of this name."""
    return next(each["default"] for each in options if each["name"] == name)


def text(options, indent="    "):
    """Every option with what it is, its type and its default, for people."""
    lines = []
    for option in options:
        least = f", at least {option['least']}" if "least" in option else ""
        default = "" if "options" in option else f"; default {option['default']!r}"
        lines.append(f"{indent}{option['name']}: {option['type']}{least}{default}")
        lines += textwrap.wrap(option["doc"] + ".", 92, initial_indent=indent + "    ",
                               subsequent_indent=indent + "    ")
        if "options" in option:
            lines.append(text(option["options"], indent + "    "))
    return "\n".join(lines)


def signature(options, types, positional, keywords):
    """The positional arguments, then the keywords beside the options and the other options, with
    types and defaults."""
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
                  for name, kind in positional.items()]
    for name, (kind, default) in keywords.items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default,
                                            annotation=kind))
    for option in options:
        if option["name"] in positional:
            continue
        default = ({each["name"]: each["default"] for each in option["options"]}
                   if "options" in option else option["default"])
        parameters.append(inspect.Parameter(option["name"], inspect.Parameter.KEYWORD_ONLY,
                                            default=default,
                                            annotation=types.get(option["name"],
                                                                 inspect.Parameter.empty)))
    return inspect.Signature(parameters)


def documents(options, types, keywords=None, **positional):
    """Has a class or function show the options that it takes as keywords; `types` are those of
    option_types, `keywords` what it takes beside them: {name: (type, default)}."""
    def document(shown):
        shown.__doc__ = f"{inspect.getdoc(shown) or ''}\n\nOptions:\n\n{text(options)}\n"
        shown.__signature__ = signature(options, types.__annotations__, positional, keywords or {})
        return shown
    return document
