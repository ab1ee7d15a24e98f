"""The page about `helpers`, made from docstrings by Sphinx's autodoc."""


def without_constructor(app, what, name, obj, options, signature, annotation):
    """A result is returned by its function, never built by a reader: its class is shown without arguments."""
    return ("", None) if what == "class" else None


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-signature", without_constructor)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
