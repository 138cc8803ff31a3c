import type { Schemas } from '@/api/client';
import { problemsBelow, readDraft, type Draft, type JsonSchema } from '@/lib/schema';

export type SuiteBody = Schemas['NewSuite'];

export interface ScorerDraft {
  kind: string;
  settings: Draft;
}

export type SuiteView = Schemas['SuiteView'];

export interface SuiteForm {
  name: string;
  dataset: string;
  /** What this form does not ask for, as the suite has it that it began with. */
  kept: Partial<SuiteBody>;
  refine: Draft;
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
    mode: {
      type: 'string',
      enum: ['llm', 'schema'],
      default: 'llm',
      description: 'Whether judges are asked (llm), or rules alone decide (schema).',
    },
  },
};

export const REFINE: JsonSchema = {
  properties: {
    model: {
      type: 'string',
      'x-model': true,
      description: 'Writes outputs anew that the judge finds wanting. Nothing: none are.',
    },
    limit: {
      type: 'integer',
      minimum: 0,
      maximum: 20,
      default: 0,
      description: 'Rounds at most for each output; 0 switches refinement off.',
    },
    threshold: {
      type: 'number',
      description: 'A score from here on ends the rounds; without it only a perfect one does.',
    },
    answer: {
      type: 'string',
      enum: ['latest', 'best'],
      default: 'latest',
      description: 'Which round is the answer.',
    },
    trials: {
      type: 'boolean',
      default: false,
      description: 'Refine outputs in optimizations too.',
    },
  },
};

function draftOf(schema: JsonSchema, values: Readonly<Record<string, unknown>>): Draft {
  return Object.fromEntries(
    Object.keys(schema.properties ?? {}).flatMap((name) => {
      const value = values[name];
      return value === null || value === undefined || value === schema.properties?.[name]?.default
        ? []
        : [[name, String(value)]];
    }),
  );
}

/** A form like a suite that is there, whose next version it makes. */
export function suiteLike(suite: SuiteView): SuiteForm {
  const { split, refine } = suite;
  return {
    ...firstSuite(suite.dataset_id ?? ''),
    name: suite.source === 'configuration' ? '' : suite.name,
    scorers: suite.scorers.map((scorer) => {
      const { kind, ...settings } = typeof scorer === 'string' ? { kind: scorer } : scorer;
      const written = Object.entries(settings).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]);
      return { kind: String(kind), settings: Object.fromEntries(written) as Draft };
    }),
    split: split === null ? 'none' : typeof split === 'string' ? 'field' : 'shares',
    shares:
      split === null || typeof split === 'string'
        ? {}
        : draftOf(SHARES, { train: 0, validation: 0, test: 0, ...split }),
    rest: draftOf(REST, suite),
    refine: draftOf(REFINE, refine ?? {}),
    kept: {
      split_seed: suite.split_seed,
      stratify_by: suite.stratify_by,
      user: suite.user,
      pictures: suite.pictures,
      ...(refine && { refine: { fields: refine.fields, parameters: refine.parameters } }),
    } as Partial<SuiteBody>,
  };
}

export function firstSuite(dataset: string): SuiteForm {
  return {
    name: '',
    dataset,
    kept: {},
    refine: {},
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
  refine: Readonly<Record<string, string>>;
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
  const refine = readDraft(REFINE, form.refine);
  const refined = { ...form.kept.refine, ...refine.values };
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
    refine: refine.problems,
  };
  const body: SuiteBody = {
    name: form.name,
    dataset_id: form.dataset,
    scorers: form.scorers.map((scorer, index) => ({
      kind: scorer.kind,
      ...read[index]?.values,
    })),
    split: form.split === 'none' ? null : form.split === 'field' ? 'field' : parts,
    ...form.kept,
    ...rest.values,
    refine: Object.values(refined).some((value) => value !== null) ? refined : null,
  } as Partial<SuiteBody> as SuiteBody;
  const clean = (found: Readonly<Record<string, string>>) => Object.keys(found).length === 0;
  const usable =
    form.name !== '' &&
    problems.name === null &&
    form.dataset !== '' &&
    form.scorers.length > 0 &&
    problems.scorers.every(clean) &&
    (form.split !== 'shares' || clean(problems.shares)) &&
    clean(problems.rest) &&
    clean(problems.refine);
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
