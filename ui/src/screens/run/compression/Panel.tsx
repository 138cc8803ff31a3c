import { useQuery } from '@tanstack/react-query';
import { answer, api, ApiError, type Schemas } from '@/api/client';
import { Card, Stat } from '@/components/Card';
import { Diff } from '@/components/Diff';
import { Empty, Loaded } from '@/components/States';
import { Money } from '@/components/Numbers';
import { count, percent, tokens } from '@/lib/format';
import { useAddress } from '@/lib/address';
import { bars, heldOutWords, saved } from './figures';
import { RefusedCuts } from './RefusedCuts';
import './compression.css';

type Report = Schemas['CompressionView'];
const CALLS = [10_000, 100_000, 1_000_000] as const;

/** What a compression cut, what it left, and that nothing got worse by it. */
export default function CompressionPanel({ runId }: { runId: string }) {
  const address = useAddress();
  const calls = Number(address.get('calls')) || 100_000;
  const query = useQuery({
    queryKey: ['compression', runId, calls],
    queryFn: () =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}/compression', {
          params: {
            path: { optimization_id: runId },
            query: { calls_per_month: calls },
          },
        }),
      ),
    refetchInterval: (asked) => (waiting(asked.state.error) ? 5_000 : false),
  });
  if (!query.data && waiting(query.error))
    return (
      <Card>
        <Empty title="Still cutting">
          The report is written when the run ends. The Score and Events tabs show how far it is.
        </Empty>
      </Card>
    );
  return (
    <Loaded query={query} lines={8}>
      {(report) => (
        <>
          <Figures
            report={report}
            calls={calls}
            onCalls={(next) => address.set({ calls: String(next) })}
          />
          <Sizes report={report} />
          <Kept report={report} />
          <Untested lines={report.untested} />
          <RefusedCuts rejected={report.rejected} runId={runId} />
        </>
      )}
    </Loaded>
  );
}

function waiting(error: Error | null): boolean {
  return error instanceof ApiError && error.code === 'no_result';
}

function Figures({
  report,
  calls,
  onCalls,
}: {
  report: Report;
  calls: number;
  onCalls: (calls: number) => void;
}) {
  const { savings } = report;
  const evidence = heldOutWords(report);
  return (
    <>
      <div className={`notice ${evidence.tone}`}>
        <span>
          <strong>{report.refuted ? 'Refuted' : 'Held-out items'}.</strong> {evidence.text}
        </span>
      </div>
      <div className="grid-cards">
        <Stat
          label="Prompt"
          value={`${count(report.tokens.before)} → ${count(report.tokens.after)}`}
        >
          tokens, <span className="good">{saved(report.tokens.before, report.tokens.after)}</span>
        </Stat>
        <Stat
          label="Regressions"
          value={
            <span className={report.regressions === 0 ? 'good' : 'bad'}>
              {count(report.regressions)}{' '}
              <span className="muted small">of {count(report.gate_items)}</span>
            </span>
          }
        >
          items that passed before; pass rate {percent(report.baseline_pass_rate, 1)} →{' '}
          {percent(report.candidate_pass_rate, 1)}
        </Stat>
        <Stat label="Saved per call" value={tokens(savings.tokens_per_call)}>
          {savings.usd_per_call === null ? (
            <span className="muted">in money: {savings.why_unknown}</span>
          ) : (
            <>
              <Money value={savings.usd_per_call} /> a call
              {savings.cached_share ? (
                <span className="muted">
                  , as {percent(savings.cached_share)} of what the agent reads is cached
                </span>
              ) : null}
            </>
          )}
        </Stat>
        <Stat
          label="Saved per month"
          value={
            savings.usd_per_month === null ? (
              tokens(savings.tokens_per_month)
            ) : (
              <Money value={savings.usd_per_month} />
            )
          }
        >
          <label>
            with{' '}
            <select
              className="compression-calls"
              value={calls}
              onChange={(event) => onCalls(Number(event.target.value))}
            >
              {[...new Set([...CALLS, calls])].map((number) => (
                <option key={number} value={number}>
                  {count(number)}
                </option>
              ))}
            </select>{' '}
            calls
          </label>
        </Stat>
        <Stat label="What it took" value={count(report.evaluations)}>
          evaluations, <Money value={report.usage.cost_usd} />
        </Stat>
      </div>
    </>
  );
}

function Sizes({ report }: { report: Report }) {
  return (
    <Card title="Tokens by section" flush>
      <div className="table-wrap" tabIndex={0} role="region" aria-label="Tokens by section">
        <table className="table">
          <thead>
            <tr>
              <th>Section</th>
              <th className="wide-only">Before and after</th>
              <th className="num">Before</th>
              <th className="num">After</th>
              <th className="num">Change</th>
            </tr>
          </thead>
          <tbody>
            {bars(report.tokens.sections).map((one) => (
              <tr key={one.path}>
                <td className="mono">{one.path}</td>
                <td className="wide-only compression-bars" aria-hidden="true">
                  <span className="bar">
                    <span className="compression-before" style={{ width: `${one.wide * 100}%` }} />
                  </span>
                  <span className="bar">
                    <span style={{ width: `${one.narrow * 100}%` }} />
                  </span>
                </td>
                <td className="num">{count(one.before)}</td>
                <td className="num">{count(one.after)}</td>
                <td className="num">{saved(one.before, one.after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Untested({ lines }: { lines: Report['untested'] }) {
  if (lines.length === 0) return null;
  return (
    <Card title="Lines that no item tests">
      <ul>
        {lines.map((one) => (
          <li key={`${one.section_path} ${one.text}`}>
            <span className="mono">{one.section_path}</span>: {one.text}{' '}
            <span className={one.kept ? 'muted small' : 'bad'}>
              {one.kept ? 'kept' : 'left out, as asked for'}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Kept({ report }: { report: Report }) {
  if (report.modifications.length === 0)
    return (
      <Card title="Kept cuts">
        <Empty title="Nothing could be cut">
          {report.stop_message ?? 'Every cut made an item fail that had passed.'}
        </Empty>
      </Card>
    );
  return (
    <Card title="Kept cuts">
      <div className="stack">
        {report.modifications.map((one) => (
          <div key={one.section_path} className="stack tight">
            <div className="row between">
              <h3 className="mono">{one.section_path}</h3>
              <span className="muted small">
                {tokens(one.token_reduction)} less, by {count(one.edits.length)}{' '}
                {one.edits.length === 1 ? 'cut' : 'cuts'}
              </span>
            </div>
            <Diff before={one.original_body} after={one.proposed_body} />
            <details>
              <summary>The cuts one by one</summary>
              <ul className="compression-edits">
                {one.edits.map((edit, index) => (
                  <li key={index}>{edit}</li>
                ))}
              </ul>
            </details>
          </div>
        ))}
      </div>
    </Card>
  );
}
