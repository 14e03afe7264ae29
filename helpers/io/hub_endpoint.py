"""Where files of the Hugging Face hub are fetched: HF_ENDPOINT and HF_TOKEN."""

PUBLIC_HUB = "https://huggingface.co/"


def _endpoint() -> str:
    """Return the hub's address, as models are fetched from it."""
    from huggingface_hub import constants

    return constants.ENDPOINT.rstrip("/") + "/"


def address_at_endpoint(address: str) -> str:
    """Return the address of a file of the public hub at the endpoint that is set."""
    if not address.startswith(PUBLIC_HUB):
        return address
    return _endpoint() + address.removeprefix(PUBLIC_HUB)


def headers_for(address: str) -> dict[str, str]:
    """Return the header that carries the user's token, for the endpoint alone.

    Where the endpoint sends on to another host, requests drops the header.
    """
    from huggingface_hub.utils import build_hf_headers

    if not address.startswith(_endpoint()):
        return {}
    headers = build_hf_headers()
    return {name: headers[name] for name in headers if name == "authorization"}
