import type { ImageRun, NewImageRun, ObjectivePreset, Quality } from '../types';

export const SHORTEST_PROMPT = 5;
export const VARIANT_COUNTS = [2, 3] as const;
export const QUALITIES: readonly Quality[] = ['low', 'medium', 'high'];

/** The name by which a request asks for no text model. */
export const TEMPLATES = 'templates';

export const OBJECTIVES: readonly { value: ObjectivePreset; label: string; help: string }[] = [
  {
    value: 'adherence',
    label: 'Adherence',
    help: 'What the prompt says, and nothing else.',
  },
  {
    value: 'aesthetic',
    label: 'Aesthetic',
    help: 'Composition, light, a style of one piece.',
  },
  {
    value: 'product',
    label: 'Product',
    help: 'A clear, whole subject; a calm background.',
  },
];

export interface WorkbenchForm {
  prompt: string;
  objective: ObjectivePreset;
  variants: 2 | 3;
  quality: Quality;
  mustInclude: readonly string[];
  mustAvoid: readonly string[];
  /** Empty until somebody chose one: the server's own choice then. */
  imageModel: string;
  judgeModel: string;
  textModel: string;
  /** What ranks; empty until somebody chose: as the server has it then. */
  rankBy: '' | 'score' | 'pairs';
}

export const FIRST_FORM: WorkbenchForm = {
  prompt: '',
  objective: 'adherence',
  variants: 3,
  quality: 'medium',
  mustInclude: [],
  mustAvoid: [],
  imageModel: '',
  judgeModel: '',
  textModel: '',
  rankBy: '',
};

/** The settings of a run that was. */
export function formOf(run: ImageRun): WorkbenchForm {
  return {
    prompt: run.base_prompt,
    objective: run.objective_preset,
    variants: run.n_variants === 2 ? 2 : 3,
    quality: run.quality,
    mustInclude: run.constraints.must_include,
    mustAvoid: run.constraints.must_avoid,
    imageModel: run.image_model,
    judgeModel: run.judge_model,
    textModel: run.text_model ?? TEMPLATES,
    rankBy: run.pairwise ? 'pairs' : 'score',
  };
}

/** What is wrong with the prompt, or null. Spaces around it do not count. */
export function promptProblem(prompt: string): string | null {
  const length = prompt.trim().length;
  if (length >= SHORTEST_PROMPT) return null;
  return `A prompt has at least ${SHORTEST_PROMPT} characters.`;
}

/** A list of terms with one more: each once, none empty. */
export function withTerm(terms: readonly string[], typed: string): readonly string[] {
  const fresh = typed
    .split(',')
    .map((term) => term.trim())
    .filter((term) => term !== '');
  return [...new Set([...terms, ...fresh])];
}

/** What is asked for; `judged` is the wish that pictures are judged by, where it is not the prompt. */
export function requestOf(
  form: WorkbenchForm,
  project: string,
  { parent, judged, id }: { parent: string | null; judged: string | null; id: string },
): NewImageRun {
  return {
    run_id: id,
    judge_prompt: judged,
    project_id: project,
    base_prompt: form.prompt.trim(),
    objective_preset: form.objective,
    n_variants: form.variants,
    quality: form.quality,
    parent_commit_id: parent,
    constraints: { must_include: [...form.mustInclude], must_avoid: [...form.mustAvoid] },
    ...(form.imageModel && { image_model: form.imageModel }),
    ...(form.judgeModel && { judge_model: form.judgeModel }),
    ...(form.textModel && { text_model: form.textModel }),
    ...(form.rankBy && { pairwise: form.rankBy === 'pairs' }),
  };
}

/** A project's name as the server takes it. */
export function nameProblem(name: string): string | null {
  if (name.trim() === '') return 'A project needs a name.';
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name.trim()))
    return 'Letters, digits, dots, dashes and underscores; it begins with a letter or a digit.';
  return null;
}
