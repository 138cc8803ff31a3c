import { Stat } from '@/components/Card';
import { Money, Score } from '@/components/Numbers';
import { count, interval, milliseconds, percent, tokens } from '@/lib/format';
import { spending, type EvaluationResult } from './result';

export function Figures({ result }: { result: EvaluationResult }) {
  const [low, high] = result.pass_interval;
  return (
    <div className="grid-cards">
      <Stat label="Score" value={<Score value={result.score} />}>
        <span className="muted">{`95% interval ${interval(...result.score_interval)}`}</span>
      </Stat>
      <Stat label="Passed" value={percent(result.pass_rate)}>
        <span className="muted">
          {`${count(result.items - result.failed)} of ${count(result.items)} items, 95% interval ${percent(low)} to ${percent(high)}`}
        </span>
      </Stat>
      <Stat label="Cost" value={<Money value={result.usage.cost_usd} />}>
        <Spent result={result} />
      </Stat>
      <Stat label="Latency of an item" value={milliseconds(result.avg_latency_ms)}>
        <span className="muted">
          {`mean of ${count(result.items)}${result.cached > 0 ? `, ${count(result.cached)} from a cache` : ''}`}
        </span>
      </Stat>
    </div>
  );
}

function Spent({ result }: { result: EvaluationResult }) {
  const parts = spending(result.usage);
  if (parts.length === 0) return <span className="muted">no call was paid for</span>;
  return (
    <span className="muted">
      {parts.map(({ who, usage }, index) => (
        <span key={who} title={`${count(usage.calls)} calls`}>
          {index > 0 && ' · '}
          <span className="nowrap">
            {who} <Money value={usage.cost_usd} />
          </span>
        </span>
      ))}
      <br />
      {`${count(result.usage.calls)} calls, ${tokens(result.usage.input_tokens + result.usage.output_tokens)}`}
    </span>
  );
}
