/**
 * The golden conversations: everything the daemon says in them is read, and a connection that is made to say the client's
 * lines says them word for word.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Channel } from '../../src/connection/channel';
import { Failure, failureOf } from '../../src/connection/failures';
import { isRecord, type MethodName } from '../../src/connection/wire';
import { until } from '../support/daemon';
import { Peer } from '../support/peer';

interface Step {
  client?: { id?: number; method: string; params: Record<string, unknown> };
  daemon?: Record<string, unknown>;
  line?: string;
}

const FOLDER = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../protocol/golden');
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'));

function steps(name: string): Step[] {
  const [, ...lines] = readFileSync(path.join(FOLDER, name), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Step);
}

describe('golden conversations', () => {
  it('are there', () => expect(NAMES.length).toBeGreaterThan(8));

  it.each(NAMES)('%s', async (name) => {
    const all = steps(name).filter((step) => !('line' in step));
    const said = all.filter((step) => step.client);
    const peer = await Peer.listen(() => undefined);
    const notified: Array<Record<string, unknown>> = [];
    const channel = await Channel.open(
      peer.address,
      { onNotification: (method, params) => notified.push({ method, params }), onEnd: () => undefined },
      5_000,
    );
    try {
      const outcomes: Array<Record<string, unknown>> = [];
      const ids = new Map<number, number>();
      let calls = 0;
      let place = 0;
      for (const step of all) {
        if (step.client?.id !== undefined) {
          const { id, method, params } = step.client;
          ids.set(id, ++calls);
          const number = calls;
          channel
            .call(method as MethodName, params as never, {
              onPartial: (answer) => outcomes.push({ id: number, partial: answer }),
            })
            .then(
              (result: unknown) => outcomes.push({ id: number, result }),
              (error: unknown) => outcomes.push({ id: number, error: failureOf(error) }),
            );
          place += 1;
          await until(() => peer.heard.length >= place, 'the call was sent');
          expect(peer.heard[place - 1]).toEqual({ jsonrpc: '2.0', id: number, method, params });
        } else if (step.daemon) {
          const message = { ...step.daemon };
          if (message.id === null) continue; // answers to lines that this client never sends
          const id = typeof message.id === 'number' ? ids.get(message.id) : undefined;
          if (id !== undefined) message.id = id;
          const params = message.params;
          if (message.method === 'search/partial' && isRecord(params)) {
            message.params = { ...params, id: ids.get(params.id as number) };
          }
          const before = outcomes.length + notified.length;
          peer.sockets[0]?.write(`${JSON.stringify(message)}\n`);
          await until(() => outcomes.length + notified.length > before, 'it was read');
          if (message.method === 'search/partial') {
            expect(outcomes.at(-1)).toEqual({ id: ids.get((params as { id: number }).id), partial: (params as { answer: unknown }).answer });
          } else if (message.method) expect(notified.at(-1)).toEqual({ method: message.method, params });
          else if ('result' in message) expect(outcomes.at(-1)).toEqual({ id, result: message.result });
          else {
            const failure = outcomes.at(-1)?.error;
            expect(failure).toBeInstanceOf(Failure);
            const { message: text, data } = message.error as { message: string; data: Record<string, unknown> };
            expect(failure).toMatchObject({ message: text, kind: data.kind, hint: data.hint });
          }
        }
      }
      expect(said.length).toBeGreaterThan(0);
    } finally {
      channel.close();
      await peer.close();
    }
  });
});
