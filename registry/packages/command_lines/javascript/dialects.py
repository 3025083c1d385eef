"""The dialects of JavaScript and TypeScript that the readers can parse."""

from typing import Literal

JAVASCRIPT_SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")
SHELL_SUFFIXES = (".sh", ".bash")


def javascript_dialect(path: str) -> Literal["javascript", "typescript", "tsx"]:
    """The dialect of a JavaScript or TypeScript file, by its suffix."""
    if path.endswith((".tsx", ".jsx")):
        return "tsx"
    return "typescript" if path.endswith((".ts", ".mts", ".cts")) else "javascript"
