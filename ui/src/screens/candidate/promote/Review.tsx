import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ConfigurationDiff } from '@/components/configuration/Diff';
import { Score } from '@/components/Numbers';
import { Loaded } from '@/components/States';
import { Time } from '@/components/Time';
import { agentQuery, useVersion } from '@/screens/agents/data';
import { asConfiguration, changesInWords, compareConfigurations } from '@/lib/configurations';
import {
  evidenceDetail,
  evidenceWords,
  verdictOf,
  verdictWords,
  type Verdict,
} from '@/lib/evidence';
import { useCandidate, type Review, type RunCandidate } from '../data';

/** From what is in use to the candidate, word by word. */
export function ReviewChanges({ review, candidate }: { review: Review; candidate: RunCandidate }) {
  const version = useVersion(review.agent, review.active_version);
  const baseline = useCandidate(
    candidate.optimization_id,
    review.active_version === null ? review.baseline.candidate_id : null,
  );
  const own = asConfiguration(candidate.configuration);
  if (review.already_active)
    return (
      <div className="notice info">
        Version {review.active_version} of {review.agent} is this configuration already: there is
        nothing to promote.
      </div>
    );
  return (
    <div className="stack">
      <p>
        {review.active ? (
          <>
            Replaces version {review.active.version} of{' '}
            <Link href={`/agents/${encodeURIComponent(review.agent)}`}>{review.agent}</Link>, active
            since <Time at={review.active.created_at} />
            {review.active.author !== '' && ` (${review.active.author})`}.
          </>
        ) : (
          <>
            {review.agent} has no versions yet: it runs as its project has it, and this becomes the
            first promotion.
          </>
        )}
      </p>
      {!review.begins_from_active && (
        <div className="notice warn">
          <div className="stack tight">
            <strong>The run began with something else than what is active</strong>
            <span className="small">
              Its scores and its evidence are against the run’s own baseline, not against version{' '}
              {review.active_version}. A new run from the active version would tell more.
            </span>
          </div>
        </div>
      )}
      <Loaded<{ configuration: unknown }>
        query={review.active_version === null ? baseline : version}
      >
        {(before) => {
          const from = asConfiguration(before.configuration);
          return (
            <div className="stack tight">
              <h3>What changes: {changesInWords(compareConfigurations(from, own))}</h3>
              <ConfigurationDiff before={from} after={own} level={4} />
            </div>
          );
        }}
      </Loaded>
    </div>
  );
}

const TONES: Record<Verdict, string> = {
  proven: 'good',
  refuted: 'bad',
  open: 'warn',
  search_only: 'warn',
};

/** What speaks for it and what against it, in words and numbers. */
export function ReviewEvidence({ review, runId }: { review: Review; runId: string }) {
  const agent = useQuery(agentQuery(review.agent));
  const { evidence, doubts } = review;
  return (
    <div className="stack">
      {evidence ? (
        <div className={`notice ${TONES[verdictOf(evidence)]}`}>
          <div className="stack tight">
            <strong>{evidenceWords(evidence)}</strong>
            <span>{verdictWords(evidence)}</span>
            <span className="small">{evidenceDetail(evidence)}</span>
          </div>
        </div>
      ) : (
        <div className="notice warn">
          <div className="stack tight">
            <strong>There is no held-out evidence for this candidate</strong>
            <span className="small">
              A run confirms only its best candidate, on items that the search never saw, when it
              ends. The score below is from items that the search looked at, so it is likely too
              kind.
            </span>
          </div>
        </div>
      )}
      <dl className="kv">
        <dt>Score in the search</dt>
        <dd>
          <Score value={review.candidate.score} />{' '}
          <span className="muted">
            against <Score value={review.baseline.score} /> for the baseline
          </span>
        </dd>
        <dt>Agent</dt>
        <dd>
          {review.agent}
          {agent.data?.model && <span className="muted"> on {agent.data.model}</span>}
        </dd>
        <dt>Run</dt>
        <dd>
          <Link href={`/runs/${runId}`}>See the run</Link>
        </dd>
      </dl>
      {doubts.length > 0 && (
        <div className="notice warn">
          <div className="stack tight">
            <strong>{doubts.length === 1 ? 'A doubt' : 'Doubts'}</strong>
            <ul className="candidate-doubts">
              {doubts.map((doubt) => (
                <li key={doubt}>{doubt}</li>
              ))}
            </ul>
          </div>
        </div>
      )}
    </div>
  );
}
