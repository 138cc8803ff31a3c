import type { Schemas } from '@/api/client';
import { problemsBelow, readDraft, type Draft, type JsonSchema } from '@/lib/schema';

export type SuiteBody = Schemas['NewSuite'];

export interface ScorerDraft {
  kind: string;
  settings: Draft;
}

export interface SuiteForm {
  name: string;
  dataset: string;
  scorers: readonly ScorerDraft[];
  split: 'shares' | 'field' | 'none';
  shares: Draft;
  rest: Draft;
}

const SHARE = { type: 'number' as const, minimum: 0, maximum: 1 };
export const SHARES: JsonSchema = {
  properties: {
    train: { ...SHARE, default: 0.4, description: 'Optimizers look at these items.' },
    validation: { ...SHARE, default: 0.4, description: 'Candidates are compared on these.' },
    test: { ...SHARE, default: 0.2, description: 'Held out: only the winner is checked on these.' },
  },
};
export const REST: JsonSchema = {
  properties: {
    repeats: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 1,
      description: 'How often each item runs.',
    },
    pass_threshold: {
      type: 'number',
      description: 'An item passes from this score; without it as its judge says, else from 1.',
    },
  },
};

export function firstSuite(dataset: string): SuiteForm {
  return {
    name: '',
    dataset,
    scorers: [{ kind: 'exact_match', settings: {} }],
    split: 'shares',
    shares: {},
    rest: {},
  };
}

export interface SuiteProblems {
  name: string | null;
  scorers: readonly Readonly<Record<string, string>>[];
  shares: Readonly<Record<string, string>>;
  rest: Readonly<Record<string, string>>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The request, and what is wrong with it before it is sent. */
export function readSuite(
  form: SuiteForm,
  schemas: ReadonlyMap<string, JsonSchema>,
): { body: SuiteBody; problems: SuiteProblems; usable: boolean } {
  const read = form.scorers.map((scorer) =>
    readDraft(schemas.get(scorer.kind) ?? { properties: {} }, scorer.settings),
  );
  const shares = readDraft(SHARES, form.shares);
  const rest = readDraft(REST, form.rest);
  const parts = { train: 0.4, validation: 0.4, test: 0.2, ...shares.values } as Record<
    string,
    number
  >;
  const sum = Object.values(parts).reduce((total, share) => total + share, 0);
  const uneven = form.split === 'shares' && Math.abs(sum - 1) > 1e-9;
  const problems: SuiteProblems = {
    name:
      form.name === '' || NAME.test(form.name)
        ? null
        : 'A name has letters, digits, dots, dashes and underscores, and begins with one of the first two.',
    scorers: read.map((one) => one.problems),
    shares: uneven
      ? { ...shares.problems, test: `The shares sum up to ${+sum.toFixed(3)}, and not to 1.` }
      : shares.problems,
    rest: rest.problems,
  };
  const body: SuiteBody = {
    name: form.name,
    dataset_id: form.dataset,
    scorers: form.scorers.map((scorer, index) => ({
      kind: scorer.kind,
      ...read[index]?.values,
    })),
    split: form.split === 'none' ? null : form.split === 'field' ? 'field' : parts,
    ...rest.values,
  } as Partial<SuiteBody> as SuiteBody;
  const clean = (found: Readonly<Record<string, string>>) => Object.keys(found).length === 0;
  const usable =
    form.name !== '' &&
    problems.name === null &&
    form.dataset !== '' &&
    form.scorers.length > 0 &&
    problems.scorers.every(clean) &&
    (form.split !== 'shares' || clean(problems.shares)) &&
    clean(problems.rest);
  return { body, problems, usable };
}

/** What the server refused, beside the scorer that it is about. */
export function refusedScorers(
  problems: readonly { where: string; message: string }[],
  scorers: number,
): Readonly<Record<string, string>>[] {
  return Array.from(
    { length: scorers },
    (_, index) => problemsBelow(`body.scorers.${index}`, problems).fields,
  );
}
