import type { ReactNode } from 'react';
import { Stat } from '@/components/Card';
import { Change, Money, Score } from '@/components/Numbers';
import { exactMoney, interval, milliseconds, score, tokens } from '@/lib/format';
import type { RunView } from './view';

type Scored = NonNullable<RunView['best']>;

/** The best candidate against the baseline in what counts. */
export function Figures({ run }: { run: RunView }) {
  const { baseline, best } = run;
  return (
    <div className="grid-cards run-figures">
      <Stat label="Score on the search items" value={<Score value={run.best_score} />}>
        <ScoreNote run={run} />
      </Stat>
      <Against
        label="Tokens for an item"
        of={(one) => one.avg_tokens}
        show={(value) => tokens(value).replace(' tokens', '')}
        none={prompts(baseline, best)}
        run={run}
        digits={0}
      />
      <Against
        label="Latency of an item"
        of={(one) => one.avg_latency_ms}
        show={milliseconds}
        none="not measured yet"
        run={run}
        digits={0}
        unit=" ms"
      />
      <Against
        label="Cost of an item"
        of={(one) => one.avg_cost_usd}
        show={(value) => <Money value={value} />}
        none="no call with a known price"
        run={run}
        relative
      />
    </div>
  );
}

function ScoreNote({ run }: { run: RunView }) {
  const { baseline, best } = run;
  if (run.best_score === null) return <span className="muted">no score yet</span>;
  const range = interval(best?.ci_low, best?.ci_high);
  return (
    <>
      {run.baseline_score !== null && <Change value={run.best_score - run.baseline_score} />}{' '}
      <span className="muted">
        from {score(run.baseline_score)}
        {range !== '' && best?.candidate_id !== baseline?.candidate_id && (
          <>
            <br />
            95% interval {range}
          </>
        )}
      </span>
    </>
  );
}

function prompts(baseline: Scored | null, best: Scored | null): string {
  if (!best || !baseline) return 'not measured yet';
  return `prompt: ${tokens(best.prompt_tokens)}, baseline ${tokens(baseline.prompt_tokens)}`;
}

function Against({
  label,
  of,
  show,
  none,
  run,
  digits = 0,
  unit = '',
  relative = false,
}: {
  label: string;
  of: (one: Scored) => number | null;
  show: (value: number) => ReactNode;
  none: string;
  run: RunView;
  digits?: number;
  unit?: string;
  /** As a share of the baseline: for sums too small for a difference in cents. */
  relative?: boolean;
}) {
  const now = run.best && of(run.best);
  const before = run.baseline && of(run.baseline);
  if (now === null || now === undefined)
    return (
      <Stat label={label} value={<span className="muted">–</span>}>
        <span className="muted">{none}</span>
      </Stat>
    );
  return (
    <Stat label={label} value={show(now)}>
      {before !== null && before !== undefined && (
        <>
          {relative ? (
            before > 0 && (
              <Change value={(now / before - 1) * 100} welcome="down" digits={0} unit="%" />
            )
          ) : (
            <Change value={now - before} welcome="down" digits={digits} unit={unit} />
          )}{' '}
          <span className="muted" title={relative ? exactMoney(before) : undefined}>
            from {show(before)}
          </span>
        </>
      )}
    </Stat>
  );
}
