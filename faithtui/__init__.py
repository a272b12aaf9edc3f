"""faithtui: review what an LLM judge said about faithfulness, and say how far it can be trusted."""
