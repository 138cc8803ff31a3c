/** Image runs and commits as the server sends them, with what a test wants to be different. */
import type { Commit, ImageRun, Rubric, Variant } from '@/screens/images/types';

export function rubric(changes: Partial<Rubric> = {}): Rubric {
  return {
    prompt_adherence: 0.8,
    subject_fidelity: 0.7,
    composition_quality: 0.6,
    style_coherence: 0.5,
    technical_artifact_penalty: 0.1,
    confidence: 0.9,
    failure_tags: [],
    strength_tags: [],
    rationale: '',
    not_measured: [],
    composite_score: 0.605,
    ...changes,
  };
}

export function variant(changes: Partial<Variant> = {}): Variant {
  return {
    variant_id: 'v01',
    variant_prompt: 'a red house, from above',
    mutation_tags: ['composition'],
    not_drawn: [],
    status: 'evaluated',
    rank: 1,
    parent_commit_id: 'anchor',
    commit_id: 'c1',
    image_url: '/images/1',
    thumbnail_url: '/images/1/thumbnail',
    generation_latency_ms: 40,
    judge_latency_ms: 10,
    ...rubric(),
    rubric: rubric(),
    pairwise: null,
    error: null,
    ...changes,
  };
}

export function run(changes: Partial<ImageRun> = {}): ImageRun {
  return {
    run_id: 'r1',
    project_id: 'houses',
    base_prompt: 'a red house',
    judge_prompt: null,
    objective_preset: 'adherence',
    image_model: 'sketch',
    judge_model: 'pixel-judge',
    text_model: null,
    pairwise: false,
    n_variants: 2,
    quality: 'medium',
    constraints: { must_include: [], must_avoid: [] },
    parent_commit_id: null,
    anchor_commit_id: 'anchor',
    status: 'queued',
    stage: 'queued',
    last_stage: 'queued',
    stage_message: '',
    progress_percent: 0,
    progress: {
      total_variants: 2,
      generated_variants: 0,
      evaluated_variants: 0,
      failed_variants: 0,
    },
    degraded: false,
    degradations: [],
    error: null,
    variants: [],
    leaderboard: [],
    top_k: [],
    suggestions: null,
    spending: {},
    cancel_requested: false,
    revision: 1,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    completed_at: null,
    ...changes,
  };
}

export function commit(id: string, parent: string | null, changes: Partial<Commit> = {}): Commit {
  return {
    commit_id: id,
    project_id: 'houses',
    parent_commit_id: parent,
    status: 'success',
    prompt: 'a red house',
    model: 'sketch',
    images: [],
    image_url: `/images/${id}`,
    thumbnail_url: `/images/${id}/thumbnail`,
    can_be_parent: true,
    error: null,
    run_id: null,
    variant_id: null,
    score: null,
    judged_by: null,
    created_at: '2026-01-01T00:00:00Z',
    ...changes,
  };
}
