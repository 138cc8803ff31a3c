import { Link } from 'wouter';
import { Card } from '@/components/Card';
import { Change, Score } from '@/components/Numbers';
import { Empty, Failure, Loading } from '@/components/States';
import { Time } from '@/components/Time';
import { useAddress } from '@/lib/address';
import { shortId } from '@/lib/format';
import {
  useCandidateNumber,
  useRunName,
  type AgentView,
  type useVersions,
  type VersionLine,
} from './data';
import { originOf, originWords, type Origin } from './origin';

/** All versions that ever were, the newest first. */
export function Timeline({
  agent,
  lines,
  query,
}: {
  agent: AgentView;
  lines: readonly VersionLine[];
  query: ReturnType<typeof useVersions>;
}) {
  return (
    <Card title="Versions" actions={<span className="muted small">{counted(lines, query)}</span>}>
      {query.error && !query.data && (
        <Failure error={query.error} retry={() => void query.refetch()} />
      )}
      {query.isPending && <Loading what="Loading the versions" />}
      {query.data && lines.length === 0 && (
        <Empty title="No versions yet">
          <p>
            The agent runs as {agent.source === 'configuration' ? 'burnish.toml' : 'the request'}{' '}
            has it. Promote a candidate of a run, and it is here.
          </p>
          <Link className="btn small" href={`/runs?agent=${encodeURIComponent(agent.name)}`}>
            Runs of this agent
          </Link>
        </Empty>
      )}
      {lines.length > 0 && (
        <ol className="agents-timeline" reversed aria-label="Versions, the newest first">
          {lines.map((line) => (
            <Entry key={line.version} line={line} active={agent.active_version} />
          ))}
        </ol>
      )}
      {query.hasNextPage && (
        <button type="button" className="btn small" onClick={() => void query.fetchNextPage()}>
          Older versions
        </button>
      )}
    </Card>
  );
}

function counted(lines: readonly VersionLine[], query: { hasNextPage: boolean }): string {
  if (lines.length === 0) return '';
  return `${lines.length}${query.hasNextPage ? '+' : ''}`;
}

function Entry({ line, active }: { line: VersionLine; active: number | null }) {
  const address = useAddress();
  const origin = originOf(line.origin as Record<string, unknown>);
  return (
    <li className="agents-entry" data-version={line.version} data-active={line.active}>
      <div className="row">
        <h3>Version {line.version}</h3>
        {line.active && <span className="badge good">active</span>}
        <span className="muted small agents-when">
          <Time at={line.created_at} />
        </span>
      </div>
      <OriginLine origin={origin} />
      {line.note !== '' && <p className="agents-note">{line.note}</p>}
      <div className="row between">
        <span className="muted small">
          {line.author === '' ? 'nobody named' : `by ${line.author}`}
        </span>
        <span className="row">
          {line.version > 1 && (
            <button
              type="button"
              className="btn ghost small"
              onClick={() =>
                address.set({
                  before: String(line.version - 1),
                  after: String(line.version),
                  view: null,
                })
              }
            >
              What changed
              <span className="sr-only"> in version {line.version}</span>
            </button>
          )}
          {!line.active && active !== null && (
            <button
              type="button"
              className="btn small"
              onClick={() => address.set({ revert: String(line.version) })}
            >
              Revert…
              <span className="sr-only"> to version {line.version}</span>
            </button>
          )}
        </span>
      </div>
    </li>
  );
}

function OriginLine({ origin }: { origin: Origin }) {
  const name = useRunName(origin.runId);
  const number = useCandidateNumber(origin.runId, origin.candidateId);
  const run = origin.runId && (
    <Link href={`/runs/${origin.runId}`}>{name.data ?? `run ${shortId(origin.runId)}`}</Link>
  );
  if (origin.kind !== 'promoted')
    return (
      <p className="small">
        {originWords(origin)}
        {run && <> in {run}</>}
      </p>
    );
  return (
    <p className="small">
      {origin.automatic ? originWords(origin) : 'Promoted'}:{' '}
      <Link href={`/runs/${origin.runId}/candidates/${origin.candidateId}`}>
        {number.data === undefined ? 'candidate' : `candidate ${number.data}`}
      </Link>{' '}
      of {run}
      {origin.score !== null && (
        <>
          {' '}
          <span className="muted">
            · <Score value={origin.score} />
          </span>{' '}
          {origin.baselineScore !== null && <Change value={origin.score - origin.baselineScore} />}
        </>
      )}
    </p>
  );
}
