import type { Rubric } from './types';

export type RubricNumber =
  | 'prompt_adherence'
  | 'subject_fidelity'
  | 'composition_quality'
  | 'style_coherence'
  | 'technical_artifact_penalty';

/** The five numbers and how much each weighs in the score; artifacts weigh against it. */
export const RUBRIC: readonly {
  name: RubricNumber;
  label: string;
  /** Where there is little room. */
  short: string;
  weight: number;
}[] = [
  { name: 'prompt_adherence', label: 'Prompt adherence', short: 'Adherence', weight: 0.35 },
  { name: 'subject_fidelity', label: 'Subject fidelity', short: 'Fidelity', weight: 0.2 },
  { name: 'composition_quality', label: 'Composition quality', short: 'Composition', weight: 0.2 },
  { name: 'style_coherence', label: 'Style coherence', short: 'Style', weight: 0.15 },
  {
    name: 'technical_artifact_penalty',
    label: 'Technical artifacts',
    short: 'Artifacts',
    weight: -0.1,
  },
];

/** What one number adds to the score. */
export function partOf(rubric: Rubric, name: RubricNumber, weight: number): number {
  return rubric[name] * weight;
}
