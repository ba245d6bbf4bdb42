"""Finds function bodies, parameter lists and abstract classes in C++ text, well enough to measure them.

A scanner, no parser: it follows braces and looks at what stands before each. Used by size_test and interface_test.
"""
import re

import house


_INITIALIZERS = re.compile(r"\)\s*(noexcept\s*)?:[^:]")   # of a constructor: "A(int b) : c_{b}, d_(b)"


def _opens_function(head):
    """Whether the text between the last ; { or } and an opening brace makes that brace a function body."""
    head = re.sub(r"^\s*#.*$", "", head, flags=re.M).strip()
    ends = head.endswith((")", "const", "noexcept", "override", "final")) or "->" in head
    if not ends and not (head.endswith("}") and _INITIALIZERS.search(head)):
        return False
    if "(" not in head or re.match(r"(namespace|extern)\b", head):
        return False
    return not re.search(r"(^|[^=!<>])=\s*$", head) and not re.match(r"(enum|union)\b", head)


def bodies(cpp):
    """(first line, number of lines, name) of each outermost function body, the signature included."""
    clean = house.code(cpp)
    found, stack, begin = [], [], 0
    for match in re.finditer(r"[{};]", clean):
        token, at = match.group(0), match.start()
        inside = any(kind == "function" for kind, _, _ in stack)
        head = clean[begin:at]
        if token == "{" and not inside and _INITIALIZERS.search(head) and re.search(r"[\w>]\s*$", head):
            stack.append(("initializer", begin, ""))
            continue
        if token == "}" and stack and stack[-1][0] == "initializer":
            stack.pop()
            continue
        if token == "{":
            kind = "function" if not inside and _opens_function(head) else "other"
            stack.append((kind, begin + len(head) - len(head.lstrip()), head))
        elif token == "}" and stack:
            kind, start, opened = stack.pop()
            if kind == "function":
                first, last = clean.count("\n", 0, start) + 1, clean.count("\n", 0, at) + 1
                names = re.findall(r"([\w:~]+(?:\s*operator\s*\S+)?)\s*\(", opened)
                found.append((first, last - first + 1, names[0] if names else "?"))
        # Inside parentheses ("for (;;)", default arguments) a separator ends nothing.
        depth = clean.count("(", begin, at) - clean.count(")", begin, at)
        if token != ";" or depth <= 0:
            begin = at + 1
    return found


def parameter_lists(cpp):
    """(line, [parameter, ...]) of every balanced parenthesis group that could be one."""
    clean = house.code(cpp)
    found = []
    for match in re.finditer(r"\(", clean):
        parts, depth, angle, start = [], 1, 0, match.end()
        for at in range(match.end(), len(clean)):
            character = clean[at]
            depth += character in "([{"
            depth -= character in ")]}"
            angle += character == "<"
            angle -= character == ">" and clean[at - 1] != "-"
            if depth == 0 or (character == "," and depth == 1 and angle <= 0):
                parts.append(" ".join(clean[start:at].split()))
                start = at + 1
            if depth == 0:
                break
        found.append((clean.count("\n", 0, match.start()) + 1, parts))
    return found


_BARE = re.compile(r"(const )?(std::)?(u?int(8|16|32|64)_t|u?int|unsigned|long|long long|short|float|double|size_t|ptrdiff_t)"
                   r"( const)?( ?&)?( \w+)?( = .*)?")


def swappable(cpp):
    """(line, text) where two neighbouring parameters are bare numbers."""
    return [(line, f"({', '.join(parts)})") for line, parts in parameter_lists(cpp)
            if any(_BARE.fullmatch(a) and _BARE.fullmatch(b) for a, b in zip(parts, parts[1:]))]


def abstract_classes(cpp):
    """Names of classes that declare a pure virtual function."""
    clean, found = house.code(cpp), []
    for match in re.finditer(r"\b(?:class|struct)\s+(\w+)[^;{()]*\{", clean):
        depth = 1
        for at in range(match.end(), len(clean)):
            depth += (clean[at] == "{") - (clean[at] == "}")
            if depth == 0:
                break
        if re.search(r"\bvirtual\b[^;{}]*=\s*0\s*;", clean[match.end():at]):
            found.append(match.group(1))
    return found
