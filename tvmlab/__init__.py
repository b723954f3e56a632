def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Tell `jupyter-builder develop` where the built JupyterLab extension lies."""
    return [{"src": "labextension", "dest": "tvmlab-lab"}]
