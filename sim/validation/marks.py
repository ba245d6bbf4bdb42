"""Tables that scripts write into documents: each lies between two marks of its name."""
import re


def between(path, name, table):
    """Puts it between <!-- name: made by ... --> and <!-- /name --> of the file."""
    pattern = rf"(<!-- {re.escape(name)}:[^\n]*\n).*?(<!-- /{re.escape(name)} -->)"
    lines = table.strip("\n")
    text, count = re.subn(pattern, lambda marks: f"{marks[1]}{lines}\n{marks[2]}", path.read_text(), flags=re.S)
    if count != 1:
        raise SystemExit(f"{path}: the place of {name} is missing")
    path.write_text(text)
