import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { answer, api, type Schemas } from '@/api/client';
import { Card } from '@/components/Card';
import { Empty } from '@/components/States';
import { count } from '@/lib/format';
import { refusedBySection } from './figures';

type Rejected = Schemas['RejectedEdit'];
/** More than these are shown when asked for. */
const FIRST = 12;

/** Cuts that were tried and not made, with the items that would have broken. */
export function RefusedCuts({ rejected, runId }: { rejected: readonly Rejected[]; runId: string }) {
  const run = useQuery({
    queryKey: ['run', runId],
    queryFn: () =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}', {
          params: { path: { optimization_id: runId } },
        }),
      ),
  });
  const candidate = run.data?.best_candidate_id ?? run.data?.baseline?.candidate_id ?? null;
  return (
    <Card title={`Refused cuts (${count(rejected.length)})`} flush={rejected.length > 0}>
      {rejected.length === 0 ? (
        <Empty title="No cut was refused">Everything that was proposed could go.</Empty>
      ) : (
        refusedBySection([...rejected]).map((one) => (
          <Section key={one.section} {...one} runId={runId} candidate={candidate} />
        ))
      )}
    </Card>
  );
}

function Section({
  section,
  edits,
  runId,
  candidate,
}: {
  section: string;
  edits: readonly Rejected[];
  runId: string;
  candidate: string | null;
}) {
  const [all, setAll] = useState(edits.length <= FIRST);
  const shown = all ? edits : edits.slice(0, FIRST);
  return (
    <div
      className="table-wrap"
      tabIndex={0}
      role="region"
      aria-label={`Refused cuts of ${section}`}
    >
      <table className="table">
        <caption className="sr-only">Refused cuts of the section {section}</caption>
        <thead>
          <tr>
            <th>Cut</th>
            <th>Why not</th>
            <th>Items that would break</th>
            <th className="num">Tokens</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((edit, index) => (
            <tr key={index}>
              <td>{edit.edit}</td>
              <td>{edit.reason}</td>
              <td>
                <div className="row">
                  {edit.item_ids.map((item) =>
                    candidate ? (
                      <Link
                        key={item}
                        className="badge"
                        href={`/runs/${runId}/candidates/${candidate}?tab=items&against=baseline&items=all&item=${encodeURIComponent(item)}`}
                      >
                        {item}
                      </Link>
                    ) : (
                      <span key={item} className="badge">
                        {item}
                      </span>
                    ),
                  )}
                  {edit.item_ids.length === 0 && <span className="muted">none named</span>}
                </div>
              </td>
              <td className="num">−{count(edit.token_reduction)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!all && (
        <div className="card-body">
          <button type="button" className="btn small" onClick={() => setAll(true)}>
            Show all {count(edits.length)}
          </button>
        </div>
      )}
    </div>
  );
}
