import type { Schemas } from '@/api/client';

export interface Draft {
  name: string;
  kind: Schemas['LabelKind'];
  from: 'run' | 'dataset';
  run: string;
  other: string;
  dataset: string;
  classes: string;
  low: string;
  high: string;
  limit: string;
  instructions: string;
}

export const EMPTY: Draft = {
  name: '',
  kind: 'pass',
  from: 'run',
  run: '',
  other: '',
  dataset: '',
  classes: '',
  low: '1',
  high: '5',
  limit: '',
  instructions: '',
};

/** What is sent; null while something is missing. */
export function newSet(draft: Draft): Schemas['NewLabelSet'] | null {
  const { kind, from } = draft;
  const pair = kind === 'preference' && from === 'run';
  const numbers = [draft.low, draft.high, draft.limit || '1'];
  const source = from === 'dataset' ? draft.dataset : draft.run;
  if (draft.name.trim() === '' || source === '' || (pair && draft.other === '')) return null;
  if (!numbers.every((one) => /^\d+$/.test(one.trim()))) return null;
  return {
    name: draft.name.trim(),
    kind,
    output: 'output',
    other: 'other',
    instructions: draft.instructions.trim(),
    low: Number(draft.low),
    high: Number(draft.high),
    classes:
      kind === 'class'
        ? draft.classes
            .split('\n')
            .map((one) => one.trim())
            .filter(Boolean)
        : [],
    ...(from === 'dataset' ? { dataset_id: source } : { experiment_id: source }),
    ...(pair && { other_experiment_id: draft.other }),
    ...(draft.limit && { limit: Number(draft.limit) }),
  };
}
