/** Where a version came from, out of the loose document that the server keeps with it. */
export interface Origin {
  kind: 'promoted' | 'reverted' | 'baseline' | 'file' | 'hand' | 'unknown';
  /** The run and candidate that it was promoted from. */
  runId: string | null;
  candidateId: string | null;
  /** By an optimizer config's own rule, without a person. */
  automatic: boolean;
  optimizer: string | null;
  revertedTo: number | null;
  score: number | null;
  baselineScore: number | null;
}

export function originOf(value: Record<string, unknown>): Origin {
  const runId = text(value.optimization_id);
  const candidateId = text(value.candidate_id);
  const revertedTo = figure(value.reverted_to);
  return {
    kind: kindOf(text(value.source), runId, candidateId, revertedTo),
    runId,
    candidateId,
    automatic: value.source === 'auto_promote',
    optimizer: text(value.optimizer),
    revertedTo,
    score: figure(value.score),
    baselineScore: figure(value.baseline_score),
  };
}

function kindOf(
  source: string | null,
  runId: string | null,
  candidateId: string | null,
  revertedTo: number | null,
): Origin['kind'] {
  if (revertedTo !== null) return 'reverted';
  if (runId !== null && candidateId !== null) return 'promoted';
  if (source === 'baseline') return 'baseline';
  if (source === 'configuration') return 'file';
  return source === 'request' ? 'hand' : 'unknown';
}

const WORDS: Record<Origin['kind'], string> = {
  promoted: 'Promoted from a run',
  reverted: 'Reverted',
  baseline: 'As it was before the first promotion',
  file: 'Configuration file',
  hand: 'Written by hand',
  unknown: 'Origin not recorded',
};

/** In a few words, without links. */
export function originWords(origin: Origin): string {
  if (origin.kind === 'reverted') return `Reverted to version ${origin.revertedTo}`;
  if (origin.kind === 'promoted' && origin.automatic)
    return origin.optimizer
      ? `Promoted by itself, by the optimizer ${origin.optimizer}`
      : 'Promoted by itself';
  return WORDS[origin.kind];
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function figure(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** Which two versions to show: what the address names, else the active one and that before it. */
export function chosenVersions(
  versions: readonly { version: number; active: boolean }[],
  before: string,
  after: string,
): { before: number; after: number } | null {
  const known = new Set(versions.map((one) => one.version));
  const active = versions.find((one) => one.active) ?? versions[0];
  if (!active || versions.length < 2) return null;
  const last = named(after, known) ?? active.version;
  const earlier = versions.find((one) => one.version < last) ?? versions.at(-1);
  const first = named(before, known) ?? earlier?.version ?? last;
  return { before: first, after: last };
}

function named(value: string, known: ReadonlySet<number>): number | null {
  const number = Number(value);
  return value !== '' && known.has(number) ? number : null;
}

const KINDS: Record<string, string> = {
  prompt: 'Prompt agent',
  python: 'Python agent',
  http: 'HTTP agent',
};

export function kindWords(kind: string): string {
  return KINDS[kind] ?? kind;
}

export function sourceWords(source: string): string {
  return source === 'configuration' ? 'burnish.toml' : 'Made by a request';
}
