import { Link } from 'wouter';
import { Card } from '@/components/Card';
import { ConfigurationDiff } from '@/components/configuration/Diff';
import { ConfigurationText } from '@/components/configuration/Text';
import { Change, Score } from '@/components/Numbers';
import { Failure, Loading } from '@/components/States';
import { Status } from '@/components/Status';
import { asConfiguration, changesInWords, compareConfigurations } from '@/lib/configurations';
import { count, counted } from '@/lib/format';
import { originSentence } from './against/against';
import type { CandidateRef, RunCandidate } from './data';
import { byScore, trialScore, splitRationale } from './roles';
import type { Other } from './against/useOther';

/** What is different in its configuration, and where that came from. */
export function Changes({
  candidate,
  other,
  runId,
}: {
  candidate: RunCandidate;
  other: Other;
  runId: string;
}) {
  return (
    <div className="candidate-columns">
      <Configuration candidate={candidate} other={other} />
      <Origin candidate={candidate} runId={runId} />
    </div>
  );
}

function Configuration({ candidate, other }: { candidate: RunCandidate; other: Other }) {
  const own = asConfiguration(candidate.configuration);
  const note = (path: string) => (
    <Tokens now={candidate.section_tokens[path]} before={other.sectionTokens?.[path]} />
  );
  if (other.kind === 'none')
    return (
      <Card title="Configuration">
        <ConfigurationText configuration={own} note={note} />
      </Card>
    );
  return (
    <Card
      title={`What changed from ${other.label}`}
      actions={
        other.configuration && (
          <span className="muted small">
            {changesInWords(compareConfigurations(other.configuration, own))}
          </span>
        )
      }
    >
      {other.error && !other.configuration ? (
        <Failure error={other.error} retry={() => void other.refetch()} />
      ) : other.configuration ? (
        <ConfigurationDiff before={other.configuration} after={own} note={note} />
      ) : (
        <Loading what="Loading the other configuration" />
      )}
    </Card>
  );
}

function Tokens({ now, before }: { now: number | undefined; before: number | undefined }) {
  if (now === undefined) return null;
  return (
    <span className="muted small configuration-note nowrap">
      {counted(now, 'token')}
      {before !== undefined && before !== now && (
        <>
          {' '}
          <Change value={now - before} welcome="down" digits={0} />
        </>
      )}
    </span>
  );
}

function Origin({ candidate, runId }: { candidate: RunCandidate; runId: string }) {
  const own = trialScore(candidate.experiments);
  return (
    <Card title="Where it comes from">
      <div className="stack">
        <p>
          {originSentence(candidate.origin)}
          {!candidate.baseline && (
            <span className="muted"> Proposed in step {count(candidate.step_index)}.</span>
          )}
        </p>
        {candidate.rationale && <Reason rationale={candidate.rationale} />}
        <Kin title="Parents" kin={candidate.parents} runId={runId} own={own} sense="from" />
        <Kin title="Children" kin={candidate.children} runId={runId} own={own} sense="to" />
      </div>
    </Card>
  );
}

function Reason({ rationale }: { rationale: string }) {
  const { text, by } = splitRationale(rationale);
  return (
    <div className="stack tight">
      <h3>Rationale</h3>
      <p className="candidate-rationale">{text}</p>
      {by && (
        <p className="muted small">
          Edit made by <code>{by}</code>
        </p>
      )}
    </div>
  );
}

function Kin({
  title,
  kin,
  runId,
  own,
  sense,
}: {
  title: string;
  kin: readonly CandidateRef[];
  runId: string;
  own: number | null;
  sense: 'from' | 'to';
}) {
  if (kin.length === 0) return null;
  return (
    <div className="stack tight">
      <h3>
        {title} <span className="muted small">{kin.length >= 100 ? '100+' : kin.length}</span>
      </h3>
      <ul className="candidate-kin">
        {byScore(kin).map((one) => (
          <li key={one.candidate_id}>
            <Link href={`/runs/${runId}/candidates/${encodeURIComponent(one.candidate_id)}`}>
              Candidate {one.number}
            </Link>
            {one.status !== 'completed' && <Status value={one.status ?? 'mini-batches only'} />}
            <span className="candidate-kin-score">
              <Score value={one.score} />{' '}
              {own !== null && one.score !== null && one.status === 'completed' && (
                <Change value={sense === 'from' ? own - one.score : one.score - own} />
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
