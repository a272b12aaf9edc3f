"""Keys that tracing tools write by their own schemas: read here, or left out on purpose.

Of the steps of a trace, timings, costs, settings and ids mean nothing to a metric. Any other key is
somebody's own or a misspelt one, so readers keep it and report it.

Source: langsmith 0.15, `schemas.py`, `Run` and `Feedback`; Langfuse's API reference and its page on
fields of blob storage exports; OpenInference `semantic_conventions.md`; OpenTelemetry semantic
conventions 1.45, registry of GenAI attributes and names of all other registries; OpenLLMetry
`opentelemetry-semantic-conventions-ai`.
"""

import re
from functools import lru_cache
from typing import Final

from faithtui.formats.readers.values.key_spellings import normalise_key_spelling


def _split_words(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _fold_words(words: str) -> frozenset[str]:
    return frozenset(map(normalise_key_spelling, words.split()))


_READ_OF_ANY: Final = "retrieval_context"
"""Read of any record of a trace: a key that was mapped to it."""

LANGSMITH_RUN: Final = _fold_words(
    f"""
    {_READ_OF_ANY} id name start_time run_type end_time extra error serialized events inputs outputs
    reference_example_id reference_dataset_id parent_run_id tags attachments session_id session_name
    child_run_ids direct_child_run_ids child_runs feedback_stats app_path manifest_id
    manifest_s3_id status prompt_tokens completion_tokens total_tokens prompt_token_details
    completion_token_details first_token_time total_cost prompt_cost completion_cost
    prompt_cost_details completion_cost_details price_model_id parent_run_ids trace_id dotted_order
    in_dataset execution_order inputs_preview outputs_preview inputs_s3_urls outputs_s3_urls s3_urls
    last_queued_at share_token trace_tier trace_first_received_at trace_min_start_time
    trace_max_start_time ttl_seconds trace_upgrade thread_id is_root latency
    """
)
LANGSMITH_EXTRA: Final = _fold_words(
    "metadata runtime invocation_params options batch_size tool_call_id"
)
LANGSMITH_FEEDBACK: Final = _fold_words(
    """
    id created_at modified_at run_id trace_id key score value comment correction feedback_source
    session_id start_time comparative_experiment_id feedback_group_id extra feedback_config
    feedback_thread_id is_root
    """
)

LANGFUSE_TRACE: Final = _fold_words(
    f"""
    {_READ_OF_ANY} id trace_id timestamp start_time name input output session_id user_id metadata
    tags release version public bookmarked environment html_path latency total_cost observations
    scores created_at updated_at project_id external_id usage usage_details cost_details level
    observation_count observations_count error_count warning_count default_count debug_count
    input_tokens output_tokens total_tokens prompt_tokens completion_tokens input_cost output_cost
    trace_name comments queue_ids
    """
)
LANGFUSE_OBSERVATION: Final = _fold_words(
    f"""
    {_READ_OF_ANY} id trace_id project_id environment type parent_observation_id
    is_root_observation start_time end_time completion_start_time name metadata level status_message
    version input output model provided_model_name internal_model_id internal_model model_id
    model_parameters usage unit usage_details provided_usage_details cost_details
    provided_cost_details total_cost usage_pricing_tier_id usage_pricing_tier_name prompt_id
    prompt_name prompt_version latency time_to_first_token input_price output_price total_price
    calculated_input_cost calculated_output_cost calculated_total_cost prompt_tokens
    completion_tokens total_tokens input_tokens output_tokens created_at updated_at bookmarked
    public user_id session_id trace_name tags release tool_calls tool_call_names tool_definitions
    trace_tags trace_timestamp trace_public trace_release trace_version scores comments
    """
)
LANGFUSE_SCORE: Final = _fold_words(
    """
    id trace_id session_id observation_id dataset_run_id project_id name value string_value
    data_type source timestamp created_at updated_at author_user_id author_user_name
    author_user_image comment metadata config_id queue_id environment trace user_id trace_name
    trace_tags job_configuration_id evaluator_id evaluation_rule_id execution_trace_id deprecation
    long_string_value subject
    """
)

SPAN: Final = _fold_words(
    f"""
    {_READ_OF_ANY} id name context trace_id span_id context.trace_id context.span_id
    context.trace_state trace_state kind span_kind parent_id parent_span_id start_time end_time
    start_time_unix_nano end_time_unix_nano status status_code status_message attributes events
    links resource scope instrumentation_scope flags dropped_attributes_count dropped_events_count
    dropped_links_count duration latency_ms cumulative_error_count
    cumulative_llm_token_count_completion cumulative_llm_token_count_prompt
    cumulative_llm_token_count_total cumulative_token_count
    """
)
ANNOTATION: Final = _fold_words(
    """
    id name annotator_kind result metadata identifier span_id trace_id session_id document_position
    created_at updated_at source user_id
    """
)

_NAMESPACES: Final = _split_words(
    """
    ai app artifact aws az azure browser cassandra cicd client cloud cloudevents cloudfoundry code
    container cpu cpython db deployment destination device disk dns elasticsearch embedding enduser
    error event exception faas feature_flag file gcp geo graphql heroku host http hw jsonrpc k8s
    langchain langgraph linux log logfire mainframe mcp message messaging mlflow net network nfs oci
    onc_rpc openai openshift opentracing oracle oracle_cloud os otel peer pool pprof process profile
    prompt pydantic_ai reranker rpc security_rule server service source system telemetry test thread
    tls url user
    user_agent vcs vector_db webengine zos
    """
)
"""What stands before the first dot of attributes of which nothing is read, but for a few names."""

_ATTRIBUTES: Final = _split_words(
    f"""
    operation.name resource.name
    {_READ_OF_ANY} openinference.span.kind session.id conversation.id thread.id input.value
    input.mime_type input.images input.documents output.value output.mime_type output.images
    output.documents metadata tag.tags agent.name graph.node.id graph.node.name
    graph.node.parent_id tool.name tool.id tool.description tool.parameters tool.json_schema
    llm.model_name llm.request.model_name llm.response.model_name llm.provider llm.system
    llm.invocation_parameters llm.function_call llm.finish_reason llm.prompts llm.tools
    llm.is_streaming llm.headers llm.user llm.top_k llm.frequency_penalty llm.presence_penalty
    llm.chat.stop_sequences
    gen_ai.agent.description gen_ai.agent.id gen_ai.agent.name gen_ai.agent.version
    gen_ai.completion gen_ai.conversation.id gen_ai.data_source.id gen_ai.embeddings.dimension.count
    gen_ai.evaluation.explanation gen_ai.evaluation.name gen_ai.evaluation.score.label
    gen_ai.evaluation.score.value gen_ai.input.messages gen_ai.operation.name gen_ai.output.messages
    gen_ai.output.type gen_ai.prompt gen_ai.prompt.name gen_ai.provider.name
    gen_ai.retrieval.documents gen_ai.retrieval.query.text gen_ai.system gen_ai.system_instructions
    gen_ai.token.type gen_ai.tool.call.arguments gen_ai.tool.call.id gen_ai.tool.call.result
    gen_ai.tool.definitions gen_ai.tool.description gen_ai.tool.name gen_ai.tool.type
    gen_ai.workflow.name gen_ai.is_streaming
    traceloop.entity.input traceloop.entity.output traceloop.entity.name traceloop.entity.path
    traceloop.entity.version traceloop.span.kind traceloop.workflow.name traceloop.correlation.id
    """
)
_BEGINNINGS: Final = (
    "metadata.",
    "retrieval.documents.",
    "input.images.",
    "output.images.",
    "input.documents.",
    "output.documents.",
    "llm.token_count.",
    "llm.cost.",
    "llm.tools.",
    "llm.prompts.",
    "llm.choices.",
    "llm.prompt_template.",
    "llm.invocation_parameters.",
    "llm.request.",
    "llm.response.",
    "llm.usage.",
    "tool.parameters.",
    "gen_ai.tool.definitions.",
    "gen_ai.openai.",
    "gen_ai.request.",
    "gen_ai.response.",
    "gen_ai.usage.",
    "traceloop.association.properties.",
    "traceloop.prompt.",
)
_NUMBER: Final = re.compile(r"\.\d+(?=\.|$)")
_MESSAGE: Final = re.compile(
    r"(?:llm\.(?:in|out)put_messages|gen_ai\.(?:prompt|completion))\[\]\.(?:message\.)?"
    r"(?:role|content|name|tool_call_id|finish_reason|function_call_name"
    r"|function_call_arguments_json|contents\[\](?:\.message_content\.\w+.*|\.text|\.type)"
    r"|tool_calls\[\]\.(?:tool_call\.)?(?:id|name|type|arguments|reasoning_signature"
    r"|function\.(?:name|arguments)))"
)
_IN_EVENTS: Final = _split_words(
    """
    content role id name index finish_reason message message.content message.role tool_calls
    annotator annotator_kind judge user.id faithtui.details
    """
)
"""Attributes of events that are read, or belong to their conventions."""


@lru_cache(maxsize=4096)  # a span may have hundreds of messages in attributes of their own
def name_attribute_if_not_standard(key: str, *, of_event: bool = False) -> str | None:
    """Name an attribute of a span that no convention has, with `[]` for numbers of lists.

    Args:
        key: The attribute, flat.
        of_event: Whether it stands in an event of the span.

    Returns:
        None where a convention has it.
    """
    if key in _ATTRIBUTES or key.startswith(_BEGINNINGS):
        return None
    if key.partition(".")[0] in _NAMESPACES and "." in key:
        return None
    if of_event and key in _IN_EVENTS:
        return None
    named = _NUMBER.sub("[]", key)
    return None if _MESSAGE.fullmatch(named) else named
