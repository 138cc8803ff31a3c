import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useProject } from '@/api/choices';
import { ApiError } from '@/api/client';
import { storedKey, storeKey } from '@/api/key';
import { Field } from '../form/Field';

/** Asks for the server's key where the server wants one. */
export function KeyGate({ children }: { children: ReactNode }) {
  const cache = useQueryClient();
  const project = useProject();
  const [key, setKey] = useState('');
  const refused = project.error instanceof ApiError && project.error.status === 401;
  if (!refused) return <>{children}</>;
  return (
    <main className="main">
      <form
        className="card card-body stack"
        style={{ maxWidth: 440, margin: '12vh auto' }}
        onSubmit={(event) => {
          event.preventDefault();
          storeKey(key.trim());
          void cache.resetQueries();
        }}
      >
        <h1>This server wants a key</h1>
        <Field
          label="API key"
          hint="One of those in the server's BURNISH_API_KEY. It is kept for this tab only."
          problem={storedKey() ? 'The server did not take this key.' : null}
        >
          {(given) => (
            <input
              {...given}
              className="input"
              type="password"
              autoComplete="off"
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        <button type="submit" className="btn primary" disabled={key.trim() === ''}>
          Open
        </button>
      </form>
    </main>
  );
}
