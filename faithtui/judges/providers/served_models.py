"""Which models a server offers, for lists and for messages about a model it does not have.

Nothing is judged on the strength of it: a server may offer what its account may not use.
"""

import json
from collections.abc import Mapping

import httpx2

from faithtui.errors import ConfigError, JudgeUnavailable
from faithtui.judges.providers.api_keys import load_key
from faithtui.judges.providers.connection_errors import explain_unreachable
from faithtui.judges.providers.endpoints import Endpoint, parse_endpoint
from faithtui.judges.providers.http_exchange import make_http_client
from faithtui.judges.providers.provider_errors import make_judge_error
from faithtui.judges.providers.secret import Secret

_VERSION = "2023-06-01"
"""Of Anthropic's API; it answers nothing without."""


async def list_served_models(
    ref: str,
    base_url: str | None = None,
    *,
    environ: Mapping[str, str],
    timeout_s: float = 2.0,
) -> tuple[str, ...]:
    """List the models of a judge's server, in its order.

    Args:
        ref: `PROVIDER:MODEL`; whether the model is there does not matter.
        base_url: Another address than the provider's own.
        environ: Where the key is looked for before the keyring.
        timeout_s: Seconds the server gets.

    Raises:
        ConfigError: The judge has no server, or needs a key and has none.
        JudgeError: The server does not answer, or not with a list of models.
    """
    endpoint = parse_endpoint(ref, base_url)
    if endpoint is None:
        raise ConfigError(f"judge {ref} asks no server, so none can list its models")
    key = load_key(endpoint, environ)
    async with make_http_client(endpoint, key) as client:
        try:
            response = await client.get(
                _models_url(endpoint), headers={"anthropic-version": _VERSION}, timeout=timeout_s
            )
        except httpx2.HTTPError as error:
            raise JudgeUnavailable(
                f"no answer from {endpoint.base_url}: {explain_unreachable(error, endpoint)}"
            ) from error
    return _read_names(response, endpoint, key)


def _models_url(endpoint: Endpoint) -> str:
    # The base of OpenAI's protocol holds the version, that of Anthropic's does not.
    version = "" if endpoint.provider.protocol == "openai" else "/v1"
    return f"{endpoint.base_url}{version}/models"


def _read_names(response: httpx2.Response, endpoint: Endpoint, key: Secret) -> tuple[str, ...]:
    if response.status_code != 200:
        raise make_judge_error(response.status_code, response.headers, response.text, endpoint, key)
    try:
        body: object = json.loads(response.content)
    except (ValueError, RecursionError) as error:
        raise JudgeUnavailable(f"{endpoint.host} has no list of its models") from error
    listed = body.get("data") if isinstance(body, dict) else None
    if not isinstance(listed, list):
        raise JudgeUnavailable(f"{endpoint.host} has no list of its models")
    names = (each.get("id") for each in listed if isinstance(each, dict))
    return tuple(name for name in names if isinstance(name, str) and name)
