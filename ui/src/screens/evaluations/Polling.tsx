import { POLL_MS } from './data';

/** How fresh the page is: evaluations have no stream, they are asked for again. */
export function Polling({ active, failing }: { active: boolean; failing: boolean }) {
  if (failing)
    return (
      <span className="badge warn" role="status" data-live="lost">
        <span className="dot" aria-hidden="true" />
        The server does not answer: trying again
      </span>
    );
  if (!active) return null;
  return (
    <span className="badge good" role="status" data-live="polling">
      <span className="dot pulse" aria-hidden="true" />
      {`Refreshed every ${POLL_MS / 1000} s`}
    </span>
  );
}
