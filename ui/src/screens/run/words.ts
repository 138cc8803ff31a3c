import type { Schemas } from '@/api/client';
import { chance, comparedItems, missingWords } from '@/lib/evidence';
import { count, counted, score } from '@/lib/format';
import type { RunView } from './view';

type Evidence = Schemas['Evidence'];

export interface EvidenceWords {
  verdict: 'proven' | 'not proven' | 'worse' | 'no loss shown';
  tone: 'good' | 'warn' | 'bad';
  headline: string;
  interval: string;
  items: string;
}

/** A difference of scores as points of a hundred, with its sign. */
export function points(delta: number): string {
  const value = Math.abs(delta * 100);
  const text = value.toFixed(value < 9.95 ? 1 : 0).replace(/\.0$/, '');
  const sign = Number(text) === 0 ? '' : delta > 0 ? '+' : '−';
  return `${sign}${text}`;
}

/** What speaks for the winner, for people who do not read tables. */
export function evidenceWords(evidence: Evidence, compression = false): EvidenceWords {
  const where = evidence.held_out
    ? `on ${comparedItems(evidence)} held-out items`
    : 'on the items of the search, which it was chosen on';
  const unit = /^[+−]?1$/.test(points(evidence.delta)) ? 'point' : 'points';
  return {
    ...verdictOf(evidence, compression),
    headline: `${points(evidence.delta)} ${unit} ${where}`,
    interval:
      `95% interval ${points(evidence.ci_low)} to ${points(evidence.ci_high)} points, ` +
      chance(evidence.p_value),
    items:
      `${counted(evidence.fixed, 'item')} fixed, ${count(evidence.broken)} broken` +
      (evidence.missing ? `. ${missingWords(evidence.missing)}` : ''),
  };
}

/** Which side had runs that ended in an error, a sentence for each. */
export function errorWords(run: Pick<RunView, 'baseline' | 'best'>): string[] {
  const { baseline, best } = run;
  const sides = [
    ['The baseline', baseline] as const,
    ['The best candidate', best?.candidate_id === baseline?.candidate_id ? null : best] as const,
  ];
  return sides.flatMap(([name, side]) => {
    if (!side?.errors) return [];
    const outside = side.missing
      ? `, ${count(side.missing)} of them for reasons outside it, which count in no score`
      : '';
    return [
      `${name}: ${count(side.errors)} of ${counted(side.items, 'run')} ended in an error${outside}.`,
    ];
  });
}

/** Who scored higher or was chosen and is not the winner, and why; empty without one. */
export function overruledWords(evidence: Evidence): string {
  const other = evidence.overruled;
  if (!other) return '';
  const what = other.by === 'evidence' ? 'is not the winner' : 'scored higher in the search';
  return `Candidate ${other.number} ${what} (${score(other.score)}); ${other.why}.`;
}

/** A compression is to be as good and shorter, so it has nothing to prove but that. */
function verdictOf(
  evidence: Evidence,
  compression: boolean,
): Pick<EvidenceWords, 'verdict' | 'tone'> {
  if (compression && !evidence.refuted) return { verdict: 'no loss shown', tone: 'good' };
  if (evidence.proven) return { verdict: 'proven', tone: 'good' };
  if (evidence.refuted && evidence.delta < 0) return { verdict: 'worse', tone: 'bad' };
  return { verdict: 'not proven', tone: 'warn' };
}

const STOPS: Record<string, string> = {
  target_reached: 'It reached its target.',
  convergence: 'The search converged.',
  no_improvement: 'It found nothing better for a while.',
  algorithm_specific: 'The optimizer was done.',
  budget: 'The budget is used up.',
  timeout: 'The time was up.',
  cancelled: 'It was stopped.',
  no_candidates: 'The optimizer had nothing more to propose.',
  error: 'An error ended it.',
};

/** Why it ended, in a sentence; the server's own words where there are some. */
export function stopWords(run: RunView): string | null {
  if (run.stop_reason === null) return null;
  const said = run.result?.stop_message;
  const words = STOPS[run.stop_reason] ?? `It ended: ${run.stop_reason}.`;
  // The framework's own words for this say the same.
  if (typeof said !== 'string' || said === '' || run.stop_reason === 'no_candidates') return words;
  return `${words} ${sentence(said)}`;
}

/** With a capital and a full stop. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  const first = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

export interface Explained {
  tone: 'bad' | 'warn' | 'info';
  title: string;
  why: string;
  todo: string;
}

/** A run that was changed so lately may yet be taken up: by whom is known a moment later. */
export const GRACE_MS = 10_000;

/** Whether it waits to be taken up, and only since a moment. Either clock may be ahead. */
export function isFresh(run: RunView, now = Date.now()): boolean {
  const waits = run.status === 'initialized' || (run.status === 'running' && !run.owned);
  return waits && Math.abs(now - Date.parse(run.updated_at)) < GRACE_MS;
}

/** What an empty, failed or stopped run is, why, and what to do about it. */
export function explained(run: RunView, now = Date.now()): Explained | null {
  if (isFresh(run, now)) return null;
  const why = run.explanation === null ? '' : sentence(run.explanation);
  const fix = typeof run.framework_error?.fix === 'string' ? run.framework_error.fix : '';
  switch (run.status) {
    case 'failed': {
      const message = run.framework_error?.message;
      return {
        tone: 'bad',
        title: 'This run failed',
        why: typeof message === 'string' ? sentence(message) : why,
        todo: fix ? sentence(fix) : `${goOn(run)}: what was evaluated is kept.`,
      };
    }
    case 'initialized':
      return {
        tone: 'info',
        title: 'This run has not begun',
        why: why || 'Nobody has started it yet.',
        todo: 'Start it; the baseline is evaluated first.',
      };
    case 'cancelled':
      return {
        tone: 'warn',
        title: 'This run was stopped',
        why,
        todo: 'It stays as it is. Go on in a copy: results that are there are reused.',
      };
    case 'running':
      return explainedRunning(run, why);
    default:
      return why === ''
        ? null
        : { tone: 'info', title: 'No better configuration was found', why, todo: NEXT };
  }
}

const NEXT = 'Try a larger budget, another optimizer or another seed with a copy.';

/** A run of Python goes on in its program only. */
function goOn(run: RunView): string {
  return run.python_call ? `Call ${run.python_call} in its program` : 'Resume it';
}

function explainedRunning(run: RunView, why: string): Explained | null {
  if (!run.owned)
    return {
      tone: 'warn',
      title: 'Nobody works on this run',
      why: 'It was begun and left: its process ended before the run did.',
      todo: `${goOn(run)}: it goes on from its last checkpoint.`,
    };
  if (why === '') return null;
  return { tone: 'info', title: 'No score yet', why, todo: 'The first points appear here soon.' };
}
