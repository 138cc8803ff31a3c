import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { Card } from '@/components/Card';
import { Empty, Loaded } from '@/components/States';
import { Time } from '@/components/Time';
import { useAddress } from '@/lib/address';
import { count } from '@/lib/format';

const PAGE = 200;
type Rejection = Schemas['RejectionView'];

/** Proposals that were refused before they cost anything, and why. */
export default function RejectionsPanel({ runId, known }: { runId: string; known: number }) {
  const address = useAddress();
  const reason = address.get('reason');
  const query = useRejections(runId);
  const again = useEffectEvent(() => void query.refetch({ cancelRefetch: false }));
  // A running search refuses more: the run's own counter says when.
  useEffect(() => again(), [known]);
  const all = query.data?.pages.flatMap((page) => page.items) ?? [];
  const reasons = reasonCounts(all.map((one) => one.reason_code));
  const shown = all.filter((one) => reason === '' || one.reason_code === reason);
  return (
    <Card
      title="Refused proposals"
      flush
      actions={
        reasons.length > 1 || reason !== '' ? (
          <select
            className="select"
            aria-label="Which reason"
            value={reason}
            onChange={(event) => address.set({ reason: event.target.value })}
          >
            <option value="">Every reason</option>
            {reasons.map((one) => (
              <option key={one.code} value={one.code}>
                {`${reasonWords(one.code)} (${count(one.count)})`}
              </option>
            ))}
          </select>
        ) : undefined
      }
    >
      <Loaded query={query}>
        {() =>
          shown.length === 0 ? (
            <Empty title={all.length === 0 ? 'Nothing was refused' : 'None with this reason'}>
              {all.length === 0
                ? 'Every proposal of the optimizer could be tried.'
                : 'Choose every reason to see the rest.'}
            </Empty>
          ) : (
            <>
              <RejectionTable rejections={shown} />
              {query.hasNextPage && (
                <div className="run-more">
                  <button
                    type="button"
                    className="btn small"
                    disabled={query.isFetchingNextPage}
                    onClick={() => void query.fetchNextPage()}
                  >
                    Show more
                  </button>
                </div>
              )}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

function useRejections(runId: string) {
  return useInfiniteQuery({
    queryKey: ['rejections', runId],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET('/v1/private/optimizations/{optimization_id}/rejections', {
          params: {
            path: { optimization_id: runId },
            query: { limit: PAGE, cursor: pageParam },
          },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
}

function RejectionTable({ rejections }: { rejections: readonly Rejection[] }) {
  return (
    <div className="table-wrap" tabIndex={0} role="region" aria-label="Refused proposals">
      <table className="table">
        <thead>
          <tr>
            <th scope="col" className="num">
              Step
            </th>
            <th scope="col" className="num">
              Proposal
            </th>
            <th scope="col">Reason</th>
            <th scope="col">What it was</th>
            <th scope="col" className="num">
              When
            </th>
          </tr>
        </thead>
        <tbody>
          {rejections.map((one) => (
            <tr key={`${one.step_index}-${one.proposed_index}-${one.created_at}`}>
              <td className="num">{count(one.step_index)}</td>
              <td className="num">{count(one.proposed_index + 1)}</td>
              <td className="nowrap" title={one.reason_code}>
                {reasonWords(one.reason_code)}
              </td>
              <td className="run-message">
                {one.message}
                <Proposal of={one} />
              </td>
              <td className="num">
                <Time at={one.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What was proposed: why, what it repeats, and its text behind a click. */
function Proposal({ of }: { of: Rejection }) {
  const { proposal } = of;
  if (!proposal) return null;
  const words = proposalWords(of);
  return (
    <>
      {words !== '' && <div className="muted">{words}</div>}
      {proposal.configuration != null && (
        <details>
          <summary>What it was</summary>
          <pre>{proposedText(proposal.configuration)}</pre>
        </details>
      )}
    </>
  );
}

/** "repeats candidate 7 · shorter wording"; empty for rejections of older versions. */
export function proposalWords({ proposal }: Pick<Rejection, 'proposal'>): string {
  const same = proposal?.duplicate_of;
  const why = proposal?.rationale;
  return [
    same ? `repeats candidate ${same.slice(same.lastIndexOf('-') + 1)}` : '',
    typeof why === 'string' ? why : '',
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** The sections of a configuration one below the other; anything else as JSON. */
export function proposedText(configuration: unknown): string {
  const sections = (configuration as { sections?: unknown } | null)?.sections;
  if (sections === null || typeof sections !== 'object') {
    return JSON.stringify(configuration, null, 2);
  }
  return Object.entries(sections)
    .map(([path, text]) => `${path}:\n${String(text)}`)
    .join('\n\n');
}

/** Why a proposal was not run, for people. */
const REASONS: Record<string, string> = {
  duplicate: 'Already tried',
  empty_section: 'A section would be empty',
  placeholder_dropped: 'A placeholder was dropped',
  placeholder_unknown: 'A placeholder that no item has',
  section_too_long: 'A section is too long',
  section_locked: 'A locked section was changed',
  section_missing: 'A section is missing',
  unknown_field: 'A field that does not exist',
  unknown_parent: 'A parent that does not exist',
  unknown_item: 'An item that does not exist',
  parameter_out_of_range: 'A parameter out of its range',
  too_many_examples: 'Too many examples',
  budget: 'Not enough budget left',
};

export function reasonWords(code: string): string {
  const words = REASONS[code] ?? code.replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface ReasonCount {
  code: string;
  count: number;
}

/** How often each reason was given, the most frequent first. */
export function reasonCounts(codes: readonly string[]): ReasonCount[] {
  const found = new Map<string, number>();
  for (const code of codes) found.set(code, (found.get(code) ?? 0) + 1);
  return [...found]
    .map(([code, count]) => ({ code, count }))
    .sort((one, other) => other.count - one.count || one.code.localeCompare(other.code));
}
