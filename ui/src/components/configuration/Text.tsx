import { jsonText, type AgentConfiguration } from '@/lib/configurations';
import type { ReactNode } from 'react';
import './configuration.css';

/** A configuration as it stands: sections as text, parameters and examples below. */
export function ConfigurationText({
  configuration,
  note,
}: {
  configuration: AgentConfiguration;
  note?: (path: string) => ReactNode;
}) {
  const { sections, parameters, examples } = configuration;
  const set = Object.entries(parameters);
  return (
    <div className="stack">
      <div className="stack tight">
        <h3>Sections</h3>
        {Object.keys(sections).length === 0 && <p className="muted">No sections.</p>}
        {Object.entries(sections).map(([path, text]) => (
          <div key={path} className="configuration-part" data-part={path}>
            <div className="configuration-head">
              <code>{path}</code>
              {note?.(path)}
            </div>
            {text === '' ? (
              <p className="configuration-text muted">(empty)</p>
            ) : (
              <pre className="configuration-text">{text}</pre>
            )}
          </div>
        ))}
      </div>
      <div className="stack tight">
        <h3>Parameters</h3>
        {set.length === 0 ? (
          <p className="muted">None: the model’s own defaults hold.</p>
        ) : (
          <dl className="kv">
            {set.map(([name, value]) => (
              <div key={name} className="configuration-pair">
                <dt>
                  <code>{name}</code>
                </dt>
                <dd className="mono">{jsonText(value)}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      <div className="stack tight">
        <h3>Examples</h3>
        {examples.length === 0 ? (
          <p className="muted">None are sent along.</p>
        ) : (
          examples.map((example, index) => (
            <details key={index} className="configuration-part">
              <summary className="configuration-head">Example {index + 1}</summary>
              <pre className="configuration-text">{jsonText(example)}</pre>
            </details>
          ))
        )}
      </div>
    </div>
  );
}
