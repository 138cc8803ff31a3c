import {
  change,
  counted,
  interval,
  milliseconds,
  money,
  percent,
  score,
  tokens,
} from '@/lib/format';
import type { Point } from '../points';

export function nameOf(point: Point): string {
  if (point.kind === 'baseline') return 'Baseline';
  return point.kind === 'mini-batch'
    ? `Mini-batch of trial ${point.number}`
    : `Trial ${point.number}`;
}

/** A point in one sentence, for those who hear the chart. */
export function sentence(point: Point, baseline: number | null, best: string | null): string {
  const parts = [`${nameOf(point)}${point.candidate_id === best ? ', the best' : ''}`];
  if (point.score === null) parts.push(`${point.status}, no score`);
  else {
    const range = interval(point.ci_low, point.ci_high);
    parts.push(`score ${score(point.score)}${range && ` (95% interval ${range})`}`);
    if (baseline !== null && point.kind === 'trial')
      parts.push(`${change(point.score - baseline)} against the baseline`);
    if (point.status !== 'completed') parts.push(point.status);
  }
  if (point.items > 0) parts.push(`${point.passed} of ${counted(point.items, 'item')} passed`);
  return parts.join(', ');
}

/** Facts of a card: what is not known is left out. */
export function facts(point: Point): [string, string][] {
  const found: [string, string][] = [];
  if (point.items > 0)
    found.push(['Passed', `${point.passed} of ${point.items} (${percent(point.pass_rate)})`]);
  if (point.avg_tokens !== null) found.push(['Per item', tokens(point.avg_tokens)]);
  if (point.avg_latency_ms !== null) found.push(['Latency', milliseconds(point.avg_latency_ms)]);
  if (point.cost_usd !== null) found.push(['Cost', money(point.cost_usd)]);
  return found;
}
