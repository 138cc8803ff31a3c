import { Fragment, useEffect, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useShortcuts } from '@/lib/keys';
import { useLocation } from 'wouter';

export interface Crumb {
  label: string;
  to: string;
}

/** The frame of every screen. Escape goes to the last crumb. */
export function Page({
  title,
  badge,
  crumbs = [],
  actions,
  children,
}: {
  title: string;
  badge?: ReactNode;
  crumbs?: readonly Crumb[];
  actions?: ReactNode;
  children: ReactNode;
}) {
  const [, go] = useLocation();
  const back = crumbs.at(-1);
  useEffect(() => {
    document.title = `${title} · Burnish`;
  }, [title]);
  useShortcuts(
    back ? [{ keys: 'Escape', says: `Back to ${back.label}`, act: () => go(back.to) }] : [],
  );
  return (
    <div className="page">
      <header className="page-head">
        <div className="grow">
          {crumbs.length > 0 && (
            <nav className="crumbs" aria-label="Where this is">
              {crumbs.map((crumb) => (
                <Fragment key={crumb.to}>
                  <Link href={crumb.to}>{crumb.label}</Link>
                  <span aria-hidden="true">/</span>
                </Fragment>
              ))}
            </nav>
          )}
          <div className="row">
            <h1>{title}</h1>
            {badge}
          </div>
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
