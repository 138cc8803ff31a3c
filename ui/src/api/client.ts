import createClient, { type Middleware } from 'openapi-fetch';
import { authorization } from './key';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];
export type Problem = Schemas['Problem'];

/** What the server said is wrong, or that it could not be reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly fix: string;
  /** Whether the same may work a little later. */
  readonly retryable: boolean;
  readonly problems: readonly Problem[];

  constructor(status: number, body: Partial<Schemas['ErrorBody']>) {
    super(body.message ?? `The server answered with status ${status}.`);
    this.name = 'ApiError';
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.fix = body.fix ?? '';
    this.retryable = body.retryable ?? false;
    this.problems = body.problems ?? [];
  }
}

const withKey: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(authorization())) request.headers.set(name, value);
    return request;
  },
  onError() {
    return new ApiError(0, {
      code: 'unreachable',
      message: 'The server does not answer.',
      fix: 'Is `burnish serve` still running? This page tries again by itself.',
    });
  },
};

export const api = createClient<paths>({ baseUrl: '/' });
api.use(withKey);

/** The body of an answer; an error is thrown as what the server said about it. */
export async function answer<Body>(
  call: Promise<{ data?: Body; error?: unknown; response: Response }>,
): Promise<Body> {
  const { data, error, response } = await call;
  if (error !== undefined || !response.ok) throw new ApiError(response.status, asBody(error));
  return data as Body;
}

function asBody(error: unknown): Partial<Schemas['ErrorBody']> {
  if (typeof error === 'object' && error !== null) return error as Partial<Schemas['ErrorBody']>;
  return typeof error === 'string' && error !== '' ? { message: error } : {};
}
