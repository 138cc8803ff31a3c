import { Stat } from '@/components/Card';
import { Change, Money, Score } from '@/components/Numbers';
import { chance } from '@/lib/evidence';
import { count, counted, interval, milliseconds } from '@/lib/format';
import { useComparison, type Pair, type RunCandidate } from './data';
import { heldOut, mainExperiment, totalTokens } from './roles';
import type { Other } from './against/useOther';

/** The numbers of a candidate, each with what it is against. */
export function Facts({
  candidate,
  other,
  pair,
}: {
  candidate: RunCandidate;
  other: Other;
  pair: Pair | null;
}) {
  const main = mainExperiment(candidate.experiments);
  const held = heldOut(candidate.experiments);
  const compared = useComparison(pair !== null && pair.before !== pair.after ? pair : null);
  const against = compared.data;
  return (
    <div className="grid-cards candidate-facts">
      <Stat
        label={main?.role === 'mini-batch' ? 'Score on a mini-batch' : 'Score'}
        value={<Score value={main?.score} />}
      >
        <span className="muted">
          {main ? (
            <>
              <Range low={main.ci_low} high={main.ci_high} /> on {counted(main.items, 'item')}
            </>
          ) : (
            'It has not run yet.'
          )}
        </span>
        {held && (
          <span className="candidate-line">
            Held-out: <Score value={held.score} />{' '}
            <span className="muted">({interval(held.ci_low, held.ci_high)})</span>
          </span>
        )}
      </Stat>
      <Stat
        label={other.kind === 'none' ? 'Change' : `Against ${other.short}`}
        value={<Change value={against?.delta} />}
      >
        <span className="muted">
          {against && against.items > 0 && against.p_value !== null ? (
            <>
              <Range low={against.ci_low} high={against.ci_high} />, {chance(against.p_value)}, on{' '}
              {count(against.items)} {against.items === 1 ? 'item' : 'items'} that both ran
            </>
          ) : against ? (
            'No item ran under both.'
          ) : other.kind === 'none' ? (
            'It is where the run began.'
          ) : (
            '…'
          )}
        </span>
        {against && against.items > 0 && (
          <span className="candidate-line">
            <span className={against.improved > 0 ? 'good' : 'muted'}>
              {count(against.improved)} improved
            </span>
            ,{' '}
            <span className={against.regressed > 0 ? 'bad' : 'muted'}>
              {count(against.regressed)} regressed
            </span>
          </span>
        )}
      </Stat>
      <Stat label="Tokens per call" value={count(main?.avg_tokens)}>
        <Against now={main?.avg_tokens} before={other.main?.avg_tokens} other={other} digits={0} />
        <span className="muted candidate-line">
          {count(totalTokens(candidate.experiments))} in all; prompt{' '}
          {count(candidate.prompt_tokens)}
        </span>
      </Stat>
      <Stat label="Latency per call" value={milliseconds(main?.avg_latency_ms)}>
        <Against
          now={main?.avg_latency_ms}
          before={other.main?.avg_latency_ms}
          other={other}
          digits={0}
          unit=" ms"
        />
        <span className="muted candidate-line">mean of {counted(main?.items ?? 0, 'item')}</span>
      </Stat>
      <Stat label="Cost of this candidate" value={<Money value={candidate.cost_usd} />}>
        <span className="muted candidate-line">
          {candidate.cost_usd === null ? (
            'a price is unknown'
          ) : (
            <>
              <Money value={main?.avg_cost_usd} /> per call
            </>
          )}
        </span>
      </Stat>
    </div>
  );
}

function Range({ low, high }: { low: number | null; high: number | null }) {
  const text = interval(low, high);
  if (text === '') return <>no interval</>;
  return (
    <span className="nowrap" title="95% interval">
      {text}
    </span>
  );
}

function Against({
  now,
  before,
  other,
  digits,
  unit = '',
}: {
  now: number | null | undefined;
  before: number | null | undefined;
  other: Other;
  digits: number;
  unit?: string;
}) {
  if (now === null || now === undefined || before === null || before === undefined) return null;
  return (
    <span className="candidate-line">
      <Change value={now - before} welcome="down" digits={digits} unit={unit} />{' '}
      <span className="muted">vs {other.tiny}</span>
    </span>
  );
}
