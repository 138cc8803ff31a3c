import createClient, { type Middleware } from 'openapi-fetch';
import { ApiError } from '@/api/client';
import { authorization } from '@/api/key';
import type { paths } from '@/api/schema';

const TIMEOUT_MS = 30_000;

/** What a request came to nothing by: it took too long, or nobody was there. Both may pass. */
export function connectionError(error: unknown): ApiError {
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  if (name === 'AbortError' || name === 'TimeoutError')
    return new ApiError(0, {
      code: 'REQUEST_TIMEOUT',
      message: `The server took longer than ${TIMEOUT_MS / 1000} seconds to answer.`,
      fix: 'Try again; if it stays like this, look at the server’s log.',
      retryable: true,
    });
  return new ApiError(0, {
    code: 'API_UNAVAILABLE',
    message: 'The server does not answer.',
    fix: 'Is `burnish serve` still running? Then try again.',
    retryable: true,
  });
}

/** A request with a deadline and the key in its header. */
export async function timedFetch(request: Request): Promise<Response> {
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  for (const [name, value] of Object.entries(authorization())) request.headers.set(name, value);
  return await fetch(request, { signal: AbortSignal.any([request.signal, deadline]) });
}

const failures: Middleware = { onError: ({ error }) => connectionError(error) };

export const images = createClient<paths>({ baseUrl: '/', fetch: timedFetch });
images.use(failures);

/** A new UUID: a request that is sent again under it is the same request. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
