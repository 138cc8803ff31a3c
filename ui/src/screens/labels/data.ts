import { useQuery } from '@tanstack/react-query';
import { MANY } from '@/api/choices';
import { answer, api, type Schemas } from '@/api/client';
import { percent, score } from '@/lib/format';

export type LabelSet = Schemas['LabelSetView'];
type Estimate = Schemas['EstimateView'];
const LOOK_MS = 5_000;

export function useLabelSets() {
  return useQuery({
    queryKey: ['labels'],
    queryFn: () =>
      answer(api.GET('/v1/private/label-sets', { params: { query: { limit: MANY } } })),
  });
}

/** A set with its people; others may be labelling it now. */
export function useLabelSet(name: string) {
  return useQuery({
    queryKey: ['labels', name],
    queryFn: () =>
      answer(
        api.GET('/v1/private/label-sets/{label_set}', { params: { path: { label_set: name } } }),
      ),
    refetchInterval: LOOK_MS,
  });
}

export function useAgreement(name: string, given: number | undefined) {
  return useQuery({
    queryKey: ['labels', name, 'agreement', given],
    queryFn: () =>
      answer(
        api.GET('/v1/private/label-sets/{label_set}/agreement', {
          params: { path: { label_set: name } },
        }),
      ),
    enabled: given !== undefined,
    placeholderData: (before) => before,
  });
}

export function useVersions(name: string) {
  return useQuery({
    queryKey: ['labels', name, 'versions'],
    queryFn: () =>
      answer(
        api.GET('/v1/private/label-sets/{label_set}/versions', {
          params: { path: { label_set: name } },
        }),
      ),
  });
}

export const KINDS: Record<LabelSet['kind'], string> = {
  score: 'score',
  pass: 'pass or fail',
  class: 'class',
  preference: 'preference',
};

export function rulesWords(set: LabelSet): string {
  if (set.kind === 'score') return `score from ${set.low} to ${set.high}`;
  return set.kind === 'class' ? `class: ${set.classes.join(', ')}` : KINDS[set.kind];
}

/** “44% to 97%”: the interval of a share. */
export function interval100(one: Estimate | null): string {
  return one === null ? '–' : `${percent(one.interval[0])} to ${percent(one.interval[1])}`;
}

/** “83% (44% to 97%)”; of kappa, which is no share, three digits. */
export function estimateWords(one: Estimate, share = true): string {
  const [low, high] = one.interval;
  if (share) return `${percent(one.value)} (${interval100(one)})`;
  return `${score(one.value)} (${score(low)} to ${score(high)})`;
}
