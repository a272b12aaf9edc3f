"""Settings of all tests."""

import ast
import contextlib
import functools
import gc
import importlib
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings
from sqlalchemy import Engine, create_engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from faithtui.store.database import Database
from faithtui.store.file import readers
from faithtui.store.file.backups import list_database_files
from tests.resources import return_free_memory
from tests.store.building import read_empty_store

# Without a deadline: a loaded machine is no failure. Derandomised, so that a run says the same
# twice. `HYPOTHESIS_PROFILE=wide`, of `.ci/wide`, looks further, and `explore` at other examples
# each time.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=15)
settings.register_profile("wide", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# Colours of a real terminal whatever runs the tests, and one time zone.
os.environ["COLORTERM"] = "truecolor"
os.environ.pop("NO_COLOR", None)
os.environ["TZ"] = "UTC"
time.tzset()

# A shell that starts the tests in the background has its processes ignore interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The developer's own keys stay out of the tests, also of those in other processes.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

# Memory of pyarrow is that of the C library, which can be asked to give it back.
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"

THOROUGH = (
    r"agreement/.*_?oracle\.py",
    r"agreement/gate/test_gate_passes\.py::test_a_judge_below.*\[careless\]",
    r"agreement/documents/test_(html|markdown)_report\.py::test_hostile_words_.*\[text([2-9]|1\d)\]",
    r"agreement/sampling/test_confidence_sequences\.py::test_looks_.*\[(stratified|skips)\]",
    r"agreement/statistics/test_posterior\.py::test_intervals_hold_.*\[(half|simple)-",
    r"cli/browser/test_pages\.py",
    r"cli/test_hostile\.py",
    r"cli/commands/test_metrics\.py::test_every_metric_runs_and_shows_its_own_labels\[words[12]-",
    r"cli/test_streams\.py::test_a_run_whose_events_nobody_takes",
    r"cli/test_streams\.py::test_a_closed_stdin_.*\[(judge|label) ",
    r"cli/test_commands\.py::test_texts_of_files_never_reach_the_terminal",
    r"docs/test_ci_page\.py::test_the_example_on_top_is_the_demo",
    r"engine/calls/test_answers_per_question\.py::.*\[(?!prose|cut-by-length).+-anthropic\]",
    r"embedded_judge_training/test_training\.py::test_conversations_of_the_demo_move_no_weight",
    r"engine/batches/test_batch_faults\.py::test_.*\[openai-(429|no message|cancelled)\]",
    r"engine/batches/test_batch_faults\.py::test_a_(wrong_key|batch_that_(somebody|never_came))",
    r"engine/batches/test_batch_faults\.py::test_(a_batch_refused_at_|cancelled_twice|an_account_)",
    r"engine/batches/test_batch_run\.py::test_a_run_by_batches.*\[(turn-|deepevalex-).+\]",
    r"engine/calls/test_circuit_breaker\.py::test_it_goes_on_where_it_was_given_up",
    r"engine/faults/test_content\.py::test_f42",
    r"engine/faults/test_content\.py::test_f20",
    r"engine/faults/test_disk\.py::test_f32_a_store_that_may_not_grow",
    r"engine/review/gate/test_gate\.py::test_labels_of_a_machine_are_refused\[(?!gpt-4o|offline)",
    r"engine/test_import_memory\.py::test_memory_does_not_grow_with_the_file",
    r"engine/test_import_memory\.py::test_a_record_beyond",
    r"engine/runs/test_killed\.py::test_f29_a_second",
    r"engine/runs/test_killed\.py::test_f29_one_signal",
    r"engine/runs/test_processes\.py::test_what_a_killed_process_was_asking",
    r"engine/runs/test_processes\.py::test_two_processes_on_two_runs",
    r"store/test_database\.py::test_(three_processes|files_and_directories_that_cannot)",
    r"parity/test_cases\.py::test_own_cases_pass_under_evidence",
    r"store/file/test_kill\.py::test_a_kill_just_before_any_commit.*\[(1|2|4|5|7|8|10|11)\]",
    r"store/bundles/test_merge\.py::test_merging_in_any_order_is_replaying_the_union_of_the_logs",
    r"store/file/test_opening_at_once\.py::test_processes_that_open_one_new_store_at_once",
    r"store/annotations/test_label_log\.py::test_the_store_stands_where_a_replay",
    r"tui/agreement/test_agreement_screen\.py::test_each_part_is_one_key_away.*\[size[02]\]",
    r"cli/test_changed_labels\.py::test_exports_and_figures_refuse.*\[command[123]-",
    r"engine/population/test_population_sample\.py::test_every_design_is_planned_.*\[(simple|conv)",
    r"engine/review/gate/test_gate\.py::test_(a_claim_set_(tells|remembers)|a_labelled_s).*\[False\]",
    r"engine/review/gate/test_gate\.py::test_labels_that_were_changed_.*\[(replaced|settled by)",
    r"engine/review/samples/test_queue_intervals\.py::test_they_are_those_.*\[0\.0-stratified",
    r"engine/test_imported_run_scores\.py::test_.*\[(jsonl|ragas-rows)-.*as_pe",
    r"formats/test_arrow_batches\.py::test_a_full_disk_.*\[True",
    r"formats/test_arrow_batches\.py::test_rows_come_as.*-lz4",
    r"formats/test_parquet_pages\.py::test_copied_numbers_are_the_same\[.*(1\.0|lz4)",
    r"store/file/test_kill\.py::test_a_kill_just_before_any_commit_.*\[(3|9)\]",
    r"tui/adjudication/test_claim_evidence\.py::test_names_and_judges_.*\[size[123]\]",
    r"tui/agreement/test_marked_lines\.py::test_marks_have_a_place_.*\[size[12]-",
    r"tui/integrity/test_integrity_screen\.py::test_kinds_are_listed_.*\[size[12]\]",
    r"tui/keymap/test_keymap\.py::test_every_key_that_types_.*\[vim\]",
    r"tui/keymap/test_keys\.py::test_the_footer_of_every_screen_.*\[100\]",
    r"tui/metrics/test_every_metric\.py::test_(?!a_metric_w).*\[turn-faithfulness\]",
    r"tui/review/labels/test_claim_range\.py::test_only_a_range_of_more_.*\[1-False\]",
    r"tui/review/test_judge_reveal\.py::test_a_claim_that_is_shown_.*\[size[12]\]",
    r"tui/review/test_review_screen\.py::test_each_reason_code_.*\[180\]",
    r"tui/review/test_review_screen\.py::test_question_answer_and_claim_.*\[(False-size2|True-size0)\]",
    r"tui/samples/test_queues_screen\.py::test_(the_form_says_what|an_empty_list)_.*\[size[12]\]",
    r"tui/screen/test_jump_letters\.py::test_both_keys_open_the_same_palette\[colon\]",
    r"tui/screen/test_jump_letters\.py::test_the_palette_has_every_action_.*\[(progress|settings|metrics|agree)",
    r"tui/test_app\.py::test_a_bookmark_leads_to_its_screen_.*\[bookmark[13]-",
    r"tui/test_small_terminal\.py::test_a_screen_without_room_.*\[size[12]\]",
    r"tui/test_closed_terminal\.py::test_a_run_that_is_on",
    r"tui/test_closed_terminal\.py::test_closing_the_terminal_ends_the_app",
    r"tui/test_resume_position\.py::test_any_file_of_a_queue_is_read",
    r"tui/test_screens\.py::test_g_and_a_letter_go_to_a_screen",
    r"tui/theme/test_lines\.py::test_fit_is_exact",
    r"tui/test_hostile\.py",
    r"tui/review/test_judge_description\.py::.*\[size[023]\]",
    r"tui/keymap/test_key_names\.py",
    r"tui/keymap/test_keys\.py::test_the_footer_of_every_screen_.*\[(120|200)\]",
    r"tui/keymap/test_keymap\.py::test_every_key_that_types_something.*\[(digits|left-hand)\]",
    r"tui/metrics/test_every_metric\.py::.*(ragas|deepevalex|llamaindex)-faithfulness\]",
    r"tui/progress/test_progress_screen\.py::test_what_counts_is_seen_.*\[size[02]\]",
    r"tui/review/test_hundred_verdicts\.py",
    r"tui/review/evidence/test_images\.py::test_what_may_be_more.*\[image[024]-",
    r"tui/review/test_races\.py::test_fast_keys_give_each_claim_one_verdict\[(conversations|convenience)-",
    r"tui/review/test_judge_reveal\.py::test_a_blind_queue_holds_nothing.*\[size[02]\]",
    r"tui/screen/test_damaged_store\.py::test_rows_that_.*\[turn",
    r"tui/screen/test_damaged_store\.py::test_the_list_of_runs_.*\[(claim|sample)\]",
    r"tui/settings/test_settings_screen\.py::test_every_section_stands_at_every_size\[size[02]\]",
    r"tui/test_screens\.py::test_the_run_bar_is_on_every_screen",
    r"tui/test_snapshots\.py::.*\[(120x40|200x60)\]",
    r"tui/test_snapshots\.py::test_(raw_replies|blind)\[60x18\]",
    r"tui/test_snapshots\.py::test_review_of_(statements|whole_answers)",
    r"tui/test_start\.py::test_every_screen_stands_any_size\[size[01345]\]",
    r"tui/test_start\.py::test_resizing_through_every_size_never_crashes",
    r"tui/test_terminal\.py::test_(undo_and_redo_work_after_a_restart|no_size_crashes)",
    r"tui/test_terminal\.py::test_quitting_does_not_wait_for_the_judge",
    r"tui/test_terminal\.py::test_no_text_reaches_the_terminal_as_a_command",
    r"agreement/report/test_change_intervals\.py::test_a_sample_by_verdicts.*\[0\.02-0\.0\]",
    r"agreement/report/test_point_estimates\.py::test_points_are_those_.*-[2-5]\]",
    r"agreement/report/test_ties\.py::test_the_interval_holds_where_two_differ_.*\[0\.3\]",
    r"agreement/statistics/test_seeds\.py::test_what_.*\[import (random|faithtui\.agreement\.st)",
    r"engine/calls/test_answers_per_question\.py::test_no_q.*\[(empty.*|cut-json|html|null|yes-.+)-openai",
    r"cli/test_every_output\.py::test_no_output_.*\[export (langfuse|ragas-rows|deepeval|ex)",
    r"engine/integrity/test_item_checks\.py::test_a_model_of_random_weights_is_suspect\[[12]-",
    r"engine/integrity/test_run_checks\.py::test_a_.*_verdict_names_the_claim\[(1|23)\]",
    r"formats/test_parquet_pages\.py::test_a_column_of_many_numbers",
    r"metrics/test_injection\.py::test_no_text_gets_out_of_its_block_in_any_question\[\d*[124578]\]",
    r"store/test_deletion\.py::test_without_one_of_two_data_sets_.*\[[2-5]\]",
    r"tui/agreement/test_agreement_screen\.py::test_keys_wait_for_the_first_figures_.*\[size[02]\]",
    r"tui/keymap/test_keymap\.py::test_verdicts_are_given_with_the_keys_.*\[(vim|left-hand)-",
    r"tui/new_run/test_new_run_screen\.py::test_preview_and_keys_are_seen_.*\[size[123]\]",
    r"tui/new_run/test_new_run_screen\.py::test_a_judge_is_chosen.*\[(keys-size[12]|mouse-size[02])\]",
    r"tui/replies/test_replies_screen\.py::test_a_reply_is_read_word_for_word\[size[123]\]",
    r"tui/review/test_re_ask\.py::test_the_judge_is_asked_again_.*\[size1\]",
    r"tui/review/test_races\.py::test_fast_keys_give_each_claim_one_verdict\[sample-before[1234]\]",
    r"tui/review/test_races\.py::test_a_flag_typed_again_before_it_is_saved_.*\[(ff|ffff)-",
    r"tui/screen/test_jump_letters\.py::test_any_other_key_closes_and_does_nothing_else\[(f5|ctrl\+o)\]",
    r"agreement/documents/test_json_forms\.py::test_a_field_stands_.*\[Agreement\]",
    r"agreement/report/test_change_intervals\.py::test_a_sample_by_verdicts_.*\[0\.1-0\.1\]",
    r"architecture/test_other_systems\.py::test_every_module_is_imported_without_posix",
    r"engine/faults/test_limits\.py::test_f05_a_key_that_is_said_back",
    r"engine/population/test_population_report\.py::test_all_drawn_claims_labelled_.*\[(simple|conv.+)\]",
    r"engine/review/reports/test_trend\.py::test_a_run_of_all_that_was_drawn_keeps_.*\[simple\]",
    r"tui/adjudication/test_adjudication_screen\.py::test_hostile_names_and_notes",
    r"tui/metrics/test_metrics_screen\.py::test_m_puts_every_metric_side_by_side\[size[02]\]",
    r"tui/replies/test_show_replies\.py::test_from_a_claim_it_begins_at_.*\[size1\]",
    r"tui/review/evidence/test_evidence_marks\.py::test_words_are_marked_.*\[size[12]\]",
    r"tui/review/labels/test_missed_claims_dialog\.py::test_claims_are_added_.*\[size[02]\]",
    r"tui/review/test_review_screen\.py::test_question_answer_and_claim_.*-size1\]",
    r"tui/test_closed_terminal\.py::test_a_signal_ends_the_app_.*\[1\]",
    r"agreement/statistics/test_seeds\.py::test_equal_seeds_give_equal_results",
    r"cli/commands/label/test_label\.py::test_what_the_judge_said_changes_nothing_of_what_is_printed",
    r"cli/commands/run/test_run_settings\.py::test_what_is_typed_is_.*\[(strategy|base_u|prof|prompts)",
    r"cli/commands/run/test_timeout\.py::test_every_request_.*\[typed(1|2)-",
    r"cli/commands/sample/test_sample\.py::test_json_has_every_stratum_with_its_chance",
    r"cli/commands/test_back_to_the_judge\.py::test_a_split_is_made_once_shown_and_frozen",
    r"cli/commands/test_batch\.py::test_a_conversation_that_failed_is_tried_again",
    r"cli/commands/test_plan\.py::test_a_plan_says_why_it_expects_another_recall",
    r"cli/test_changed_labels\.py::test_exports_and_figures_refuse_.*\[command4-",
    r"cli/test_commands\.py::test_a_resumed_run_takes_.*\[words([1-35-9]|1\d)\]",
    r"cli/test_every_output\.py::test_no_output_.*\[(batch|claim-set|doctor --sal|measure|prompts)",
    r"cli/test_streams\.py::test_a_closed_stdin_.*\[guideline",
    r"engine/calls/test_answers_per_question\.py::test_no_q.*\[(cut-by-length-openai|.*prose-anthr)",
    r"engine/calls/test_answers_per_question\.py::test_no_q.*\[(json-cut|other-words).*-openai",
    r"engine/calls/test_circuit_breaker\.py::test_a_judge_of_which_half_fails_is_not_given_up",
    r"engine/calls/test_missing_verdicts\.py::test_a_missing_verdict_is_.*\[wrong_(sch|enum)",
    r"engine/faults/test_content\.py::test_f41.*\[500-",
    r"engine/faults/test_output_formats\.py::test_f25_the_best_way_.*\[(400-knows1|500-knows3)",
    r"engine/faults/test_store\.py::test_f33_a_clock_that_jumps",
    r"engine/integrity/test_item_checks\.py::test_what_was_just_judged_.*\[(ragas|deepevalex|turn-c)",
    r"engine/integrity/test_run_checks\.py::test_a_(dropped|renamed)_verdict_names_the_claim\[60\]",
    r"engine/population/test_population_report\.py::test_drawn_by_verdicts_they_have_the_weights",
    r"engine/population/test_population_sample\.py::test_equal_seeds_draw_the_same_however",
    r"engine/preview/test_run_preview\.py::test_a_sample_is_scaled_up_and_its_interval_holds",
    r"engine/review/gate/test_gate\.py::test_labels_by_whoever_may_have_seen_.*\[kinds[02]\]",
    r"engine/review/gate/test_gate\.py::test_labels_by_whoever_saw_.*\[(revealed|both deleted)",
    r"engine/review/reports/test_agreement_report_of_samples\.py::test_a_comparison_leaves_out",
    r"engine/review/reports/test_trend\.py::test_trend_and_comparison_count_labels_that_nothing",
    r"engine/review/test_examples_from_labels\.py::test_what_people_wrote_is_text_all_the_way",
    r"engine/review/test_label_bundles\.py::test_a_forged_sample_.*\[(frame|kind|seed|claims|run)\]",
    r"engine/review/test_label_bundles\.py::test_a_sample_without_labels_is_made_.*-True\]",
    r"engine/review/test_label_bundles\.py::test_what_a_label_refers_to_.*\[(clock|seed|strata)\]",
    r"engine/review/test_re_ask\.py::test_a_judge_that_always_says_.*\[window-(ragas|deepe|llama)",
    r"engine/test_imported_run_scores\.py::test_answers_that_were_not_.*\[failed-(ragas|llama)",
    r"formats/test_arrow_batches\.py::test_random_damage_ends",
    r"formats/test_arrow_batches\.py::test_rows_come_as.*\[1000-",
    r"formats/test_parquet_pages\.py::test_no_number_of_a_packing_ends_the_process",
    r"formats/writers/test_round_trip\.py::test_equal_conver.*\[write_(claim_t|deepeval|annot)",
    r"judges/test_reply_parser\.py::test_hostile_texts_end_quickly\[11\]",
    r"metrics/test_contract\.py::test_(every|whatever).*\[(ragas|deepevalex)-faithfulness\]",
    r"metrics/test_contract\.py::test_(every|whatever).*\[turn-contextual-relevancy\]",
    r"metrics/test_injection\.py::test_no_text_gets_out_of_its_block_in_any_question\[\d*[69]\]",
    r"parity/test_cases\.py::test_every_own_case_passes_.*\[own_cases_(llamaindex|turn_c)",
    r"store/file/test_kill\.py::test_a_kill_just_before_any_commit_.*\[(0|12)\]",
    r"store/file/test_salvage\.py::test_no_label_is_lost_by_a_page_that_holds_none\[5\]",
    r"store/schema/test_migrations\.py::test_an_older_file_is_upgraded_.*\[v(\d*[2-57-9])\]",
    r"store/schema/test_statements\.py::test_the_run_of_named_claims_is_.*\[(said|judges)",
    r"store/search/test_word_index\.py::test_an_import_that_is_killed_between",
    r"store/test_database\.py::test_changes_that_only_an_unreadable_log_has_are_told",
    r"store/test_deletion\.py::test_bytes_of_a_data_set_are_gone_from_the_file",
    r"tui/conversations/test_list_actions\.py::test_q_reviews_the_claims_of_the_marked",
    r"tui/integrity/test_run_warnings\.py::test_a_suspect_run_is_marked_.*\[size0\]",
    r"tui/keymap/test_keymap\.py::test_a_random_key_map_loads_without_clash",
    r"tui/keymap/test_keys\.py::test_the_footer_of_every_screen_.*\[60\]",
    r"tui/new_run/test_new_run_screen\.py::test_(no_state_of_a_judge_is_cut|a_form_that_cannot)",
    r"tui/progress/test_event_list\.py::test_an_event_opens_its_conversation_and_keeps",
    r"tui/review/evidence/test_images\.py::test_(without_images|images_are_named)",
    r"tui/review/labels/test_missed_claims_dialog\.py::test_claims_are_added_.*\[size1\]",
    r"tui/review/labels/test_notes\.py::test_an_editor_that_fails_changes_nothing\[exit 3",
    r"tui/review/labels/test_claim_range\.py::test_a_range_can_be_dropped\[escape\]",
    r"tui/review/test_blind_leaks\.py::test_screens_that_tell_of_claims_.*\[adjudicate\]",
    r"tui/review/test_judge_description\.py::test_one_key_tells_how_good_it_is\[size1\]",
    r"tui/review/test_queue_navigator\.py::test_a_claim_stays_chosen_after_.*\[c\]",
    r"tui/screen/test_damaged_store\.py::test_(a_screen_that_cannot|json_that_was).*screens[135]\]",
    r"tui/screen/test_jump_letters\.py::test_the_palette_has_every_action_.*\[(runs|integrity|adjud)",
    r"tui/settings/test_setting_editor\.py::test_what_is_chosen_counts_at_once",
    r"tui/test_snapshots\.py::test_(ascii|metrics|raw_replies)",
    r"tui/test_snapshots\.py::test_empty\[[amp]\]",
    r"tui/test_snapshots\.py::test_run_states\[(draining|handed-over|troubled|budget)",
    r"tui/test_terminal\.py::test_(kill_9_while_labelling|a_refused_store_with_a_host)",
    r"agreement/documents/test_json_report\.py::test_settings_stand_in_the_json\[wanted[02]\]",
    r"agreement/documents/test_markdown_report\.py::test_the_method_says_how_.*\[wanted[1-57]-",
    r"agreement/gate/test_gate_passes\.py::test_what_is_simulated_is_.*\[copies\]",
    r"agreement/report/figures/test_population_pass_rates\.py::test_intervals_hold_.*\[conversations-12\]",
    r"cli/commands/judge/test_recalibrate\.py::test_a_threshold_is_not_suggested_from_few",
    r"engine/batches/test_batch_faults\.py::test_a_(batch_the_provider|line_that_fails)",
    r"engine/batches/test_files\.py::test_a_run_goes_from_file_to_file_.*\[True\]",
    r"engine/faults/test_\w+\.py::.*\[.*openai batch",
    r"engine/faults/test_limits\.py::test_f04.*\[(enforced|billing)",
    r"engine/integrity/test_run_checks\.py::test_(a_cancelled|what_stops|a_metric_that_is_not)",
    r"engine/preview/test_run_preview\.py::test_what_was_said_before_.*\[ragas",
    r"engine/review/gate/test_gate\.py::test_a_(certified_largest|claim_set_whose|forecast_for)",
    r"engine/review/gate/test_gate\.py::test_a_queue_that_shows_much_.*\[0\.2",
    r"engine/review/test_recalibration\.py::test_(labels_that_do_not_count|new_runs_use_it)",
    r"judges/embedded/test_embedded_judge\.py::test_any_string_gets_an_answer_in_.*\[[2-8]\]",
    r"store/file/test_salvage\.py::test_a_sound_store_comes_over_whole",
    r"test_parts\.py::test_a_part_that_keeps_more_memory_than_allowed_fails",
    r"tui/test_input_queue\.py::test_bytes_of_one_read_never_end_a_terminal_session",
    r"agreement/documents/test_html_report\.py::test_hostile_words_everywhere_are_words\[(?!<script)",
    r"agreement/documents/test_json_forms\.py::test_a_field_stands_.*\[AgreementReport",
    r"agreement/documents/test_markdown_report\.py::test_the_method_says_how_.*\[wanted0-",
    r"agreement/documents/test_markdown_report\.py::test_hostile_words_.*\[text0\]",
    r"agreement/gate/test_gate_passes\.py::test_what_is_simulated_is_.*\[skips\]",
    r"agreement/report/test_parts\.py::test_one_figure_has_one_interval\[jackknife",
    r"agreement/statistics/test_few_labels\.py::test_twenty_labels_.*\[(by verdict|simple-0\.2)",
    r"cli/commands/judge/test_recalibrate\.py::test_a_preview_shows_both",
    r"cli/commands/run/test_record\.py::test_every_metric_is_replayed",
    r"cli/commands/run/test_incomplete_runs\.py::test_a_missing_verdict_is_told_everywhere",
    r"cli/commands/test_claim_set\.py::test_labels_of_one_store_measure",
    r"cli/commands/store/test_delete\.py::test_a_data_set_goes_.*\[words1\]",
    r"cli/commands/store/test_delete\.py::test_on_a_terminal_it_asks\[y",
    r"cli/commands/test_gate\.py::test_(hostile_names_are_shown|the_answer_stands_when)",
    r"cli/commands/test_gate\.py::test_(a_recall_that_leaves_out|a_certificate_gates_a_run)",
    r"cli/test_advice_names_the_store\.py::test_the_way_out_of_a_damaged",
    r"cli/test_every_output\.py::test_no_output_.*\[(doctor|run 1|export (dataset|labels))",
    r"docs/test_figures_page\.py::test_the_tables_of_mtrag_.*\[--together",
    r"engine/batches/test_batch_costs\.py::test_(a_run_asked_singly|what_the_budget_does_not)",
    r"engine/calls/test_answers_per_question\.py::test_no_q.*\[cut-by-length-anthropic",
    r"engine/calls/test_answers_per_question\.py::test_no_mixture_",
    r"engine/calls/test_circuit_breaker\.py::test_all_may_fail",
    r"engine/calls/test_rate_limiter\.py::test_the_window_never_grows",
    r"engine/faults/test_output_formats\.py::test_f25_.*\[500-knows2",
    r"engine/faults/test_output_formats\.py::test_f26_.*\[1-",
    r"engine/faults/test_replies\.py::test_what_cannot_be_read_.*\[F1[46]",
    r"engine/faults/test_replies\.py::test_(f13_an_answer|f23_odd)",
    r"engine/faults/test_transport\.py::test_what_fails_once_.*\[F(06|11)",
    r"engine/faults/test_transport\.py::test_every_attempt_ends_.*\[F10",
    r"engine/integrity/test_item_checks\.py::test_a_model_of_random_.*\[0-(deepevalex|ragas|turn-c)",
    r"engine/integrity/test_run_checks\.py::test_(checks_in_the_background|a_sound_run)",
    r"engine/population/test_inclusion_probabilities\.py::test_the_union_.*\[few",
    r"engine/population/test_population_report\.py::test_(few_labels_of|labels_of_every|a_gate_and)",
    r"engine/population/test_population_sample\.py::test_(drawing_all_at_once|the_run_is_what)",
    r"engine/review/gate/test_gate\.py::test_labels_by_whoever_saw_.*\[of a run deleted",
    r"engine/review/gate/test_gate\.py::test_a_(claim_set_that_names|report_of_answers_names)",
    r"engine/review/gate/test_gate\.py::test_(the_same_data_in_another|another_sample_is_stale)",
    r"engine/review/gate/test_gate\.py::test_another_judge_prompt_.*\[(option|window|metric)",
    r"engine/review/reports/test_agreement_report_of_samples\.py::test_(a_simple_sample_w|a_sample_that_is_not|labels_served)",
    r"engine/review/reports/test_trend\.py::test_(a_change_is_the_same|claims_that_match_none)",
    r"engine/review/samples/test_queue_intervals\.py::test_they_are_those_.*\[0\.4",
    r"engine/review/test_label_bundles\.py::test_what_a_label_refers_to_.*\[(run|sample)",
    r"engine/review/test_recalibration\.py::test_(labels_weigh_what|probabilities_and_verdicts)",
    r"engine/test_imported_run_scores\.py::test_answers_score_as_.*\[(ragas|llamaindex-.*as_peer)",
    r"engine/test_imported_run_scores\.py::test_an_imported_run_.*\[deepeval",
    r"engine/test_imported_run_scores\.py::test_two_runs_of_one_judge",
    r"formats/test_arrow_batches\.py::test_of_a_large_batch_.*\[lz4",
    r"formats/test_detection\.py::test_a_packed_file_that_is_cut_off",
    r"formats/test_parquet_pages\.py::test_a_(damaged_file_is_an_error|row_of_too_many).*(snappy|2\.0)",
    r"formats/writers/test_round_trip\.py::test_equal_conver.*\[write_(ragas|llama)",
    r"metrics/test_contract\.py::test_(every|whatever).*\[llamaindex-faithfulness\]",
    r"metrics/test_injection\.py::test_no_text_gets_out_of_its_block_in_any_question\[\d*[3]\]",
    r"metrics/test_turn_contextual_relevancy_verdicts\.py::test_both_strategies_agree",
    r"parity/test_cases\.py::test_every_own_case_passes_.*\[own_cases_(deepevalex|ragas)",
    r"store/annotations/test_labelled_units_of_runs\.py::test_what_counts_is_what_a_slow",
    r"store/schema/test_migrations\.py::test_an_older_file_is_upgraded_.*\[v(10|11|16)\]",
    r"store/search/test_filters\.py::test_words_of_an_older_file_.*\[v[24]\]",
    r"test_pytest_plugin\.py::test_who_does_not_use_it",
    r"tui/adjudication/test_adjudication_screen\.py::test_(the_table_names_raters|an_empty_list)",
    r"tui/adjudication/test_final_notes\.py::test_a_note_goes_with",
    r"tui/adjudication/test_final_labels\.py::test_later_flags",
    r"tui/agreement/test_agreement_screen\.py::test_(what_is_given_up|only_blind_verdicts)",
    r"tui/agreement/test_change_lines\.py::test_labels_that_nothing",
    r"tui/new_run/test_new_run_screen\.py::test_a_run_by_batches",
    r"tui/review/evidence/test_evidence_reader\.py::test_windows_and_truths_.*\[size1\]",
    r"tui/review/labels/test_notes\.py::test_a_note_stays_open",
    r"tui/review/test_blind_leaks\.py::test_(the_conversation_beside|what_was_painted_before)",
    r"tui/review/test_exposure\.py::test_(disagreements_that|findings_in|what_a_cell)",
    r"tui/review/test_judge_reveal\.py::test_blind_labels_are_stored",
    r"tui/review/test_queue_navigator\.py::test_j_stays_in_a_queue",
    r"tui/runs/test_run_actions\.py::test_archiving_is_taken_back",
    r"tui/samples/test_queues_screen\.py::test_an_empty_list_says",
    r"tui/screen/test_damaged_store\.py::test_a_screen_that_cannot.*screens2\]",
    r"tui/screen/test_jump_letters\.py::test_the_palette_has_every_action_.*\[(conv|queues)",
    r"tui/test_screens\.py::test_(q_goes_back|no_figure_on)",
    r"tui/test_snapshots\.py::test_dialogs\[(source|note)",
    r"tui/test_snapshots\.py::test_run_states\[stopped",
    r"tui/test_start\.py::test_the_first_paint_does_not",
    r"architecture/test_imports\.py::test_importing_and_listing_load_no_numpy",
    r"engine/population/test_population_report\.py::test_another_judge_on_what",
    r"agreement/documents/test_json_report\.py::test_settings_stand_in_the_json\[wanted1",
    r"engine/integrity/test_run_checks\.py::test_checks_can_stop_and_go_on",
    r"engine/batches/test_batch_run\.py::test_batches_hold_no_more",
    r"cli/commands/test_back_to_the_judge\.py::test_conversations_that_come_later",
    r"formats/test_parquet_pages\.py::test_random_damage_ends",
    r"tui/test_random_keys\.py",
    r"store/file/test_salvage\.py::test_a_lost_page_of_labels",
    r"tui/test_start\.py::test_giving_verdicts_loads_nothing",
    r"architecture/test_docstring_references\.py::test_(members|functions)",
    r"cli/browser/test_server\.py::test_the_app_leaves",
    r"tui/test_terminal\.py::test_without_a_terminal_on_stdin",
    r"engine/review/gate/test_gate\.py::test_labels_by_whoever_may_have_seen_.*\[kinds1\]",
    r"engine/review/gate/test_gate\.py::test_(a_run_or_label_that|in_another_store|few_labels_of)",
    r"engine/review/gate/test_gate\.py::test_(what_a_queue_shows|a_certificate_of_a_sample_by)",
    r"agreement/report/figures/test_population_pass_rates\.py::test_intervals_hold",
    r"store/schema/test_statements\.py::test_the_run_of_named_claims",
    r"tui/agreement/test_marked_lines\.py::test_marks_have_a_place_where_there_are_any",
    r"test_pytest_plugin\.py::test_results_come_through",
    r"tui/review/test_races\.py::test_(a_note_goes|a_verdict_over|why_keys_were)",
    r"tui/review/test_blind_leaks\.py::test_(a_low_list|what_is_read_twice)",
    r"tui/test_key_clicks\.py::test_a_dialogs_keys",
    r"tui/test_app\.py::test_a_bookmark_keeps_the_claim",
)
"""Tests that take long and are run by `pytest -m thorough`: all of them together would make every
check wait for longer than anybody does."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long."""
    thorough = re.compile(f"tests/(?:{'|'.join(THOROUGH)})")
    for item in items:
        if thorough.match(item.nodeid):
            item.add_marker(pytest.mark.thorough)


def pytest_collection_finish() -> None:
    """Keep the collector of garbage from looking at thousands of collected tests ever again.

    An app of Textual is full of cycles; it took a third of the time to look for them all the while.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 5, 5)


_COLLECT_EVERY = 50
"""Tests after which everything is collected: seldom enough to cost nothing, often enough for a
worker not to grow by the apps of a thousand tests."""


def pytest_runtest_logfinish() -> None:
    """Give back memory now and then; see `pytest_collection_finish`."""
    _finished_tests[0] += 1
    if _finished_tests[0] % _COLLECT_EVERY == 0:
        return_free_memory()


_finished_tests = [0]


@pytest.fixture
def import_peer() -> Callable[[str], ModuleType]:
    """Import a module of a peer; skip the test where it is not installed and need not be.

    `.ci/wide` installs the peers in an environment of their own and sets FAITHTUI_PEERS there.
    """
    if os.environ.get("FAITHTUI_PEERS"):
        return importlib.import_module
    return functools.partial(pytest.importorskip, exc_type=ImportError)


@pytest.fixture(scope="session", autouse=True)
def no_garbage_is_collected_while_source_is_parsed() -> Iterator[None]:
    """Keep hypothesis from `SystemError: AST constructor recursion depth mismatch`.

    It parses the source of lambdas, and has a callback of the collector. A collection in the midst
    of parsing lets another thread parse, and Python 3.11 mixes up how deep both are.
    """
    parse = ast.parse
    lock = threading.RLock()

    def parse_undisturbed(*source: Any, **kind: Any) -> Any:
        with lock:
            was_on = gc.isenabled()
            gc.disable()
            try:
                return parse(*source, **kind)
            finally:
                if was_on:
                    gc.enable()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ast, "parse", parse_undisturbed)
        yield


@pytest.fixture(scope="session", autouse=True)
def stores_share_compiled_statements() -> Iterator[None]:
    """Compile each statement once for all stores.

    SQLAlchemy keeps compiled statements for each engine and its dialect, and a store has two. Each
    test compiled what it asked anew, which took a third of its time.
    """
    compiled: LRUCache[Any, Any] = LRUCache(1000)

    def create_engine_with_cache(*args: Any, **kind: Any) -> Engine:
        engine = create_engine(*args, **kind)
        engine._compiled_cache = compiled
        return engine

    with pytest.MonkeyPatch.context() as patch:
        # The dialects of all our engines are alike.
        patch.setattr(
            SQLiteDialect_pysqlite, "__eq__", lambda self, other: type(self) is type(other)
        )
        patch.setattr(SQLiteDialect_pysqlite, "__hash__", lambda self: hash(type(self)))
        patch.setattr(readers, "create_engine", create_engine_with_cache)
        yield


@pytest.fixture(scope="session", autouse=True)
def new_stores_are_copies() -> Iterator[None]:
    """Copy an empty store where a test makes a new one.

    Thousands of tests do, and the revisions take longer than most of what is tested. Files that
    exist are upgraded by the revisions themselves, and so is what other processes open.
    """
    empty_store = read_empty_store()
    real = Database.open.__func__  # type: ignore[attr-defined]  # of a class method

    def opened(
        cls: type[Database],
        path: Path,
        *,
        create: bool,
        busy_timeout_s: float,
        read_only: bool = False,
    ) -> Database:
        is_new = not any(map(os.path.lexists, list_database_files(path)))
        if create and is_new and path.parent.is_dir():
            with contextlib.suppress(OSError):
                path.write_bytes(empty_store)
                path.chmod(0o600)
        found: Database = real(
            cls, path, create=create, busy_timeout_s=busy_timeout_s, read_only=read_only
        )
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "open", classmethod(opened))
        yield
