import type { ReactNode } from 'react';
import { ApiError } from '@/api/client';

export function Loading({ lines = 4, what = 'Loading' }: { lines?: number; what?: string }) {
  return (
    <div className="stack tight" role="status" aria-label={what}>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} className="skeleton" style={{ width: `${90 - ((index * 17) % 45)}%` }} />
      ))}
    </div>
  );
}

/** What went wrong, why, and what to do. */
export function Failure({
  error,
  retry,
  again = 'Try again',
  coded = false,
}: {
  error: Error;
  retry?: () => void;
  /** What the button says. */
  again?: string;
  /** With the code that the server gave it. */
  coded?: boolean;
}) {
  const known = error instanceof ApiError ? error : null;
  return (
    <div className="notice bad" role="alert" data-code={coded ? known?.code : undefined}>
      <div className="stack tight grow">
        <strong>{error.message}</strong>
        {known?.problems.map((problem, index) => (
          <span key={index} className="small">
            {problem.where}: {problem.message}
          </span>
        ))}
        {known?.fix && <span className="small">{known.fix}</span>}
        {coded && known && <code className="small muted">{known.code}</code>}
      </div>
      {retry && (
        <button type="button" className="btn small" onClick={retry}>
          {again}
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

/** The three states of something that is asked for; `children` draws it once it is there. */
export function Loaded<Data>({
  query,
  lines,
  what,
  children,
}: {
  query: { data: Data | undefined; error: Error | null; refetch(): unknown };
  lines?: number;
  what?: string;
  children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <Failure error={query.error} retry={() => void query.refetch()} />;
  return <Loading lines={lines} what={what} />;
}
