/** JSON-RPC 2.0, one JSON text a line: messages to lines and back. No socket here. */

import type { ERROR_CODES, Methods, Notifications } from '../../../protocol/protocol';
import { Failure } from './failures';

export type MethodName = keyof Methods;
export type NotificationName = keyof Notifications;

export type Message =
  | { type: 'result'; id: number; result: unknown }
  | { type: 'failure'; id: number | null; failure: Failure }
  | { type: 'notification'; method: string; params: Record<string, unknown> };

export function callLine(id: number, method: MethodName, params: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
}

export function cancelLine(id: number): string {
  return `${JSON.stringify({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id } })}\n`;
}

/** Read one line. Throws a `Failure` of kind `InvalidRequest` when it is no message of this protocol. */
export function readLine(line: string): Message {
  let raw: unknown;
  try {
    raw = JSON.parse(line);
  } catch {
    throw strange();
  }
  if (!isRecord(raw) || raw.jsonrpc !== '2.0') throw strange();
  if (typeof raw.method === 'string') {
    return { type: 'notification', method: raw.method, params: isRecord(raw.params) ? raw.params : {} };
  }
  const id = typeof raw.id === 'number' ? raw.id : null;
  if (isRecord(raw.error)) return { type: 'failure', id, failure: failureIn(raw.error) };
  if ('result' in raw && id !== null) return { type: 'result', id, result: raw.result };
  throw strange();
}

function failureIn(error: Record<string, unknown>): Failure {
  const data = isRecord(error.data) ? error.data : {};
  const kind = typeof data.kind === 'string' ? data.kind : 'VaultragError';
  const message = typeof error.message === 'string' ? error.message : 'the daemon refused, and did not say why';
  return new Failure(kind as keyof typeof ERROR_CODES, message, typeof data.hint === 'string' ? data.hint : '', data);
}

function strange(): Failure {
  return new Failure('InvalidRequest', 'what answers on the socket is not vaultrag');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
