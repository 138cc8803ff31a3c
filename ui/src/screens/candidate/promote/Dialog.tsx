import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { answer, api, ApiError, type Schemas } from '@/api/client';
import { Dialog } from '@/components/Dialog';
import { rememberedPerson, rememberPerson, SignFields } from '@/components/form/SignFields';
import { Failure, Loaded } from '@/components/States';
import { useReview, type Review, type RunCandidate } from '../data';
import {
  conflictWords,
  expectedVersion,
  promotionSentence,
  STEPS,
  versionToCome,
} from './promotion';
import { ReviewChanges, ReviewEvidence } from './Review';

/** Promotion in three steps: what changes, what speaks for it, and who says so. */
export function PromoteDialog({
  candidate,
  runId,
  onClose,
}: {
  candidate: RunCandidate;
  runId: string;
  onClose: () => void;
}) {
  const review = useReview(runId, candidate.candidate_id);
  if (!review.data)
    return (
      <Dialog title={`Promote candidate ${candidate.number}`} wide onClose={onClose}>
        <Loaded query={review}>{() => null}</Loaded>
      </Dialog>
    );
  return (
    <Steps
      review={review.data}
      candidate={candidate}
      runId={runId}
      again={() => void review.refetch()}
      onClose={onClose}
    />
  );
}

function Steps({
  review,
  candidate,
  runId,
  again,
  onClose,
}: {
  review: Review;
  candidate: RunCandidate;
  runId: string;
  again: () => void;
  onClose: () => void;
}) {
  const cache = useQueryClient();
  const [step, setStep] = useState(0);
  const [person, setPerson] = useState(rememberedPerson);
  const [note, setNote] = useState('');
  const [asked, setAsked] = useState(false);
  const promote = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/private/optimizations/{optimization_id}/promote', {
          params: { path: { optimization_id: runId } },
          body: {
            promoted_by: person.trim(),
            note: note.trim(),
            candidate_id: candidate.candidate_id,
            expected_version: expectedVersion(review),
          },
        }),
      ),
    onSuccess: () => {
      rememberPerson(person.trim());
      void cache.invalidateQueries({ queryKey: ['agent', review.agent] });
      void cache.invalidateQueries({ queryKey: ['agents'] });
      void cache.invalidateQueries({ queryKey: ['run', runId, 'candidate'] });
    },
  });
  if (promote.data) return <Done made={promote.data} agent={review.agent} onClose={onClose} />;
  const conflict =
    promote.error instanceof ApiError && promote.error.status === 409 ? promote.error : null;
  const nameless = person.trim() === '';
  const last = step === STEPS.length - 1;
  const go = () => {
    setAsked(true);
    if (!nameless) promote.mutate();
  };
  return (
    <Dialog
      title={`Promote candidate ${candidate.number}`}
      wide
      onClose={onClose}
      foot={
        <>
          <button
            type="button"
            className="btn"
            onClick={step === 0 ? onClose : () => setStep(step - 1)}
          >
            {step > 0 ? 'Back' : review.already_active ? 'Close' : 'Cancel'}
          </button>
          {review.already_active ? null : last ? (
            <button
              type="button"
              className="btn primary"
              disabled={promote.isPending || conflict !== null}
              onClick={go}
            >
              {promote.isPending
                ? 'Promoting…'
                : `Make it version ${versionToCome(review)} of ${review.agent}`}
            </button>
          ) : (
            <button type="button" className="btn primary" onClick={() => setStep(step + 1)}>
              Next: {STEPS[step + 1]?.toLowerCase()}
            </button>
          )}
        </>
      }
    >
      {!review.already_active && <StepList step={step} />}
      {conflict && (
        <Conflict
          error={conflict}
          agent={review.agent}
          onAgain={() => {
            promote.reset();
            setStep(0);
            again();
          }}
        />
      )}
      {promote.error && !conflict && <Failure error={promote.error} />}
      {step === 0 && <ReviewChanges review={review} candidate={candidate} />}
      {step === 1 && <ReviewEvidence review={review} runId={runId} />}
      {last && (
        <>
          <p className="candidate-confirm">{promotionSentence(review)}</p>
          {review.doubts.length > 0 && (
            <p className="small candidate-warn">
              With {review.doubts.length === 1 ? 'a doubt' : `${review.doubts.length} doubts`}:{' '}
              {review.doubts.join('; ')}.
            </p>
          )}
          <SignFields
            person={person}
            note={note}
            onPerson={setPerson}
            onNote={setNote}
            hint="Why this one, for whoever looks later."
            problem={asked && nameless ? 'A version needs the name of who made it.' : null}
          />
        </>
      )}
    </Dialog>
  );
}

function StepList({ step }: { step: number }) {
  return (
    <ol className="candidate-steps" aria-label="Steps">
      {STEPS.map((name, index) => (
        <li key={name} aria-current={index === step ? 'step' : undefined} data-done={index < step}>
          <span aria-hidden="true">{index < step ? '✓' : index + 1}</span>
          {name}
        </li>
      ))}
    </ol>
  );
}

function Conflict({
  error,
  agent,
  onAgain,
}: {
  error: ApiError;
  agent: string;
  onAgain: () => void;
}) {
  const words = conflictWords(error.code, agent);
  return (
    <div className="notice warn" role="alert">
      <div className="stack tight grow">
        <strong>{words.title}</strong>
        <span className="small">{words.why}</span>
        <span className="small muted">The server says: {error.message}</span>
      </div>
      <button type="button" className="btn small" onClick={onAgain}>
        Review again
      </button>
    </div>
  );
}

function Done({
  made,
  agent,
  onClose,
}: {
  made: Schemas['PromotionView'];
  agent: string;
  onClose: () => void;
}) {
  const { version } = made.version;
  return (
    <Dialog
      title={`${agent} is at version ${version}`}
      onClose={onClose}
      foot={
        <>
          <button type="button" className="btn" onClick={onClose}>
            Stay here
          </button>
          <Link className="btn primary" href={`/agents/${encodeURIComponent(agent)}`}>
            See version {version} of {agent}
          </Link>
        </>
      }
    >
      <div className="notice good" role="status">
        <div className="stack tight">
          <strong>Version {version} is active now</strong>
          <span className="small">
            Calls and new runs use it from now on. The agent’s page has the way back: revert to any
            version before.
          </span>
        </div>
      </div>
      {made.warnings.map((warning) => (
        <p key={warning} className="small muted">
          To keep in mind: {warning}.
        </p>
      ))}
    </Dialog>
  );
}
