"""Values of image runs that stand as examples in the OpenAPI."""

from typing import Any

from burnish.server.http.examples import MOMENT

RUN_ID = "0199d1c8-7b21-7d10-8a4c-5e6f7a8b9c0d"
PROJECT_ID = "neon-diner"
COMMIT_ID = "0199d1c8-7b22-5c31-9e0f-1a2b3c4d5e6f"
ANCHOR_ID = "0199d1c8-7b22-5a90-8d7e-6f5e4d3c2b1a"
COMPARISON_ID = "0199d1c8-7b23-7f44-a1b2-c3d4e5f60718"
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
PROMPT = "cinematic portrait of an astronaut chef in a neon diner"

RUBRIC: dict[str, Any] = {
    "prompt_adherence": 0.86,
    "subject_fidelity": 0.8,
    "composition_quality": 0.74,
    "style_coherence": 0.7,
    "technical_artifact_penalty": 0.05,
    "confidence": 0.9,
    "failure_tags": ["flat background"],
    "strength_tags": ["subject in the middle"],
    "rationale": "The subject is there and large; the background is one colour.",
    "composite_score": 0.709,
}
IMAGE: dict[str, Any] = {
    "digest": DIGEST,
    "media_type": "image/png",
    "width": 512,
    "height": 512,
    "size": 48_213,
    "url": f"/images/{DIGEST}",
    "thumbnail_url": f"/images/{DIGEST}/thumbnail",
}
VARIANT: dict[str, Any] = {
    "variant_id": "v01",
    "variant_prompt": f"{PROMPT}, close-up, rim light",
    "mutation_tags": ["composition", "lighting"],
    "status": "evaluated",
    "rank": 1,
    "parent_commit_id": ANCHOR_ID,
    "commit_id": COMMIT_ID,
    "image_url": IMAGE["url"],
    "thumbnail_url": IMAGE["thumbnail_url"],
    "generation_latency_ms": 41.2,
    "judge_latency_ms": 12.8,
    **RUBRIC,
    "rubric": RUBRIC,
    "error": None,
}
REQUEST: dict[str, Any] = {
    "project_id": PROJECT_ID,
    "base_prompt": PROMPT,
    "objective_preset": "adherence",
    "image_model": "sketch",
    "n_variants": 3,
    "quality": "medium",
    "parent_commit_id": None,
    "constraints": {"must_include": ["chef hat"], "must_avoid": ["text"]},
}
LINE: dict[str, Any] = {
    "run_id": RUN_ID,
    **REQUEST,
    "judge_prompt": None,
    "n_variants": 2,
    "judge_model": "pixel-judge",
    "text_model": None,
    "anchor_commit_id": ANCHOR_ID,
    "status": "completed",
    "stage": "refining",
    "stage_message": "Done: ranked, with three suggestions",
    "progress_percent": 100.0,
    "progress": {
        "total_variants": 2,
        "generated_variants": 2,
        "evaluated_variants": 2,
        "failed_variants": 0,
    },
    "degraded": False,
    "degradations": [],
    "error": None,
    "top_k": ["v01"],
    "cancel_requested": False,
    "revision": 9,
    "created_at": MOMENT,
    "updated_at": MOMENT,
    "completed_at": MOMENT,
}
RUN: dict[str, Any] = {
    **LINE,
    "variants": [VARIANT],
    "leaderboard": [VARIANT],
    "suggestions": {
        "conservative": VARIANT["variant_prompt"],
        "balanced": f"{VARIANT['variant_prompt']}, with a clear subject and clean detail",
        "aggressive": f"a bold new view: {PROMPT}",
    },
    "spending": {
        "calls": 5,
        "input_tokens": 0,
        "output_tokens": 0,
        "cached_tokens": 0,
        "cost_usd": 0.0,
        "by_purpose": {},
    },
}
COMMIT: dict[str, Any] = {
    "commit_id": COMMIT_ID,
    "project_id": PROJECT_ID,
    "parent_commit_id": ANCHOR_ID,
    "status": "success",
    "prompt": VARIANT["variant_prompt"],
    "model": "sketch",
    "images": [IMAGE],
    "image_url": IMAGE["url"],
    "thumbnail_url": IMAGE["thumbnail_url"],
    "can_be_parent": True,
    "error": None,
    "run_id": RUN_ID,
    "variant_id": "v01",
    "score": 0.709,
    "created_at": MOMENT,
}
COMPARISON: dict[str, Any] = {
    "comparison_id": COMPARISON_ID,
    "project_id": PROJECT_ID,
    "left_commit_id": ANCHOR_ID,
    "right_commit_id": COMMIT_ID,
    "changed_share": 0.42,
    "mean_difference": 0.11,
    "difference_map": IMAGE,
    "left_rubric": RUBRIC,
    "right_rubric": RUBRIC,
    "judge": "pixel-judge",
    "created_at": MOMENT,
}
