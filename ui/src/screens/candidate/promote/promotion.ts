import type { Review } from '../data';

export const STEPS = ['What changes', 'Evidence', 'Confirm'] as const;

/**
 * The version that a promotion makes. Without one before, what was in use is kept as version 1, so
 * that there is something to go back to.
 */
export function versionToCome(review: Pick<Review, 'active_version'>): number {
  return review.active_version === null ? 2 : review.active_version + 1;
}

/** What is sent as the version that was seen: none at all lets the server keep the baseline first. */
export function expectedVersion(
  review: Pick<Review, 'active_version' | 'expected_version'>,
): number | null {
  return review.active_version === null ? null : review.expected_version;
}

/** What will happen, naming the agent and both versions. */
export function promotionSentence(
  review: Pick<Review, 'agent' | 'active_version' | 'candidate'>,
): string {
  const { agent, active_version: active, candidate } = review;
  const becomes = `Candidate ${candidate.number} becomes version ${versionToCome(review)} of ${agent}`;
  return active === null
    ? `${becomes}, and what runs now is kept as version 1.`
    : `${becomes}, in place of version ${active}.`;
}

export interface ConflictWords {
  title: string;
  why: string;
}

/** What a refused promotion means for the person who pressed the button. */
export function conflictWords(code: string, agent: string): ConflictWords {
  if (code === 'already_active')
    return {
      title: 'Nothing was changed: this is the active version already',
      why: `Somebody promoted the same configuration to ${agent} meanwhile.`,
    };
  return {
    title: 'Nothing was changed: another version is active by now',
    why: `Somebody changed ${agent} while you reviewed. What you saw is no longer what would be replaced.`,
  };
}
