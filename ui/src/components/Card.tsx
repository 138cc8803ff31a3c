import { useId, type ReactNode } from 'react';

export function Card({
  title,
  actions,
  children,
  flush = false,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** Without padding, for tables. */
  flush?: boolean;
}) {
  const heading = useId();
  return (
    <section className="card" aria-labelledby={title ? heading : undefined}>
      {title && (
        <div className="card-head">
          <h2 id={heading}>{title}</h2>
          {actions && <div className="row">{actions}</div>}
        </div>
      )}
      <div className={flush ? '' : 'card-body'}>{children}</div>
    </section>
  );
}

export function Stat({
  label,
  value,
  children,
}: {
  label: string;
  value: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="card stat">
      <span className="stat-label">{label}</span>
      <span className="stat-value">{value}</span>
      <span className="small">{children}</span>
    </div>
  );
}
