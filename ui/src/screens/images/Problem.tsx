import { ApiError } from '@/api/client';

/** What went wrong, with its code; what may pass by itself can be tried again. */
export function Problem({ error, retry }: { error: Error; retry: () => void }) {
  const known = error instanceof ApiError ? error : null;
  return (
    <div className="notice bad" role="alert" data-code={known?.code}>
      <div className="stack tight grow">
        <strong>{error.message}</strong>
        {known?.problems.map((problem, index) => (
          <span key={index} className="small">
            {problem.where}: {problem.message}
          </span>
        ))}
        {known?.fix && <span className="small">{known.fix}</span>}
        {known && <code className="small muted">{known.code}</code>}
      </div>
      {known?.retryable !== false && (
        <button type="button" className="btn small" onClick={retry}>
          Retry
        </button>
      )}
    </div>
  );
}
