/** The connection against a peer that does everything wrong, on a real socket. */

import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/connection/failures';
import type { Connection, ConnectionState } from '../../src/connection/connection';
import { until } from '../support/daemon';
import { answerTo, failure, greeting, Peer, result, WELCOME, type Answerer } from '../support/peer';

const open: Array<{ close: () => unknown }> = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function peerThat(answer: Answerer): Promise<Peer> {
  const peer = await Peer.listen(answer);
  open.push(peer);
  return peer;
}

function joined(connection: Connection): Connection {
  open.push(connection);
  return connection;
}

async function kindOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'ok';
  } catch (error) {
    return error instanceof Failure ? error.kind : String(error);
  }
}

describe('a peer at fault', () => {
  it('of an older version, which refuses what it does not know, is greeted without it', async () => {
    const peer = await peerThat((request, _, socket) => {
      if (request.method === 'hello' && 'searches' in request.params) failure(socket, request.id, 'InvalidParams');
      else if (request.method === 'hello') result(socket, request.id, WELCOME);
      else result(socket, request.id, answerTo(request.params.query));
    });
    const connection = joined(peer.connection());
    expect((await connection.call('search', { query: 'pump' })).query).toBe('pump');
    const greetings = peer.heard.filter((request) => request.method === 'hello');
    expect(greetings.map((request) => request.params.searches)).toEqual([true, undefined]);
  });

  it('rejects the calls under way when it dies in mid-call, and is found again', async () => {
    let deaths = 1;
    const peer = await peerThat(
      greeting((request, _, socket) => {
        if (deaths-- > 0) socket.destroy();
        else result(socket, request.id, answerTo('seal'));
      }),
    );
    const connection = joined(peer.connection());
    expect(await kindOf(connection.call('search', { query: 'seal' }))).toBe('ConnectionLost');
    expect(connection.state.kind).toBe('offline');
    expect((await connection.call('search', { query: 'seal' })).query).toBe('seal');
  });

  it('comes back by itself after a loss', async () => {
    const peer = await peerThat(greeting());
    const connection = joined(peer.connection());
    const states: string[] = [];
    connection.onState((state) => states.push(state.kind));
    await connection.wake();
    peer.sockets[0]?.destroy();
    await until(() => peer.sockets.length === 2 && connection.state.kind === 'ready', 'it is back');
    expect(states).toEqual(['connecting', 'ready', 'offline', 'ready']);
  });

  it('is called incompatible when it speaks another protocol, and asked again only slowly', async () => {
    const peer = await peerThat((request, _, socket) => {
      failure(socket, request.id, 'ProtocolMismatch', { protocol_min: 7, protocol_max: 9 });
    });
    const connection = joined(peer.connection({ firstPauseMs: 60_000, lastPauseMs: 60_000 }));
    expect(await kindOf(connection.call('search', { query: 'seal' }))).toBe('Incompatible');
    expect(connection.state).toEqual({ kind: 'incompatible', why: 'refused: ProtocolMismatch', hint: 'try this' });
    expect(peer.sockets).toHaveLength(1);
  });

  it.each([
    ['a later protocol', { ...WELCOME, protocol: 9 }, 'incompatible'],
    ['positions it was not asked for', { ...WELCOME, positions: 'codepoint' }, 'incompatible'],
    ['another name', { ...WELCOME, name: 'something' }, 'offline'],
    ['nothing at all', null, 'offline'],
    ['a list', [], 'offline'],
  ])('is not believed when its welcome says %s', async (_, welcome, kind) => {
    const peer = await peerThat((request, __, socket) => result(socket, request.id, welcome));
    const connection = joined(peer.connection());
    await connection.wake();
    expect(connection.state.kind).toBe(kind);
  });

  it('is called unserved when it does not know the vault', async () => {
    const peer = await peerThat((request, _, socket) => failure(socket, request.id, 'VaultUnknown'));
    const connection = joined(peer.connection());
    await connection.wake();
    expect(connection.state).toEqual({ kind: 'unserved', why: 'refused: VaultUnknown', hint: 'try this' });
  });

  it.each([
    ['a line that is no JSON', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['JSON that is no message', '{"hello": "you"}\n'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x0a])],
    ['a batch', '[]\n'],
  ])('is left when it sends %s', async (_, garbage) => {
    const peer = await peerThat(greeting((__, ___, socket) => socket.write(garbage)));
    const connection = joined(peer.connection());
    expect(await kindOf(connection.call('search', { query: 'seal' }))).toBe('InvalidRequest');
    expect(connection.state.kind).toBe('offline');
  });

  it('has its answers matched however they are ordered', async () => {
    const waiting: Array<() => void> = [];
    const peer = await peerThat(
      greeting((request, _, socket) => {
        waiting.push(() => result(socket, request.id, answerTo(request.params.query)));
        if (waiting.length === 3) for (const one of waiting.reverse()) one();
      }),
    );
    const connection = joined(peer.connection());
    await connection.wake();
    const asked = ['one', 'two', 'three'].map((query) => connection.call('search', { query }));
    expect((await Promise.all(asked)).map((answer) => answer.query)).toEqual(['one', 'two', 'three']);
  });

  it('is given up when it says nothing, not even to status', async () => {
    const peer = await peerThat(greeting());
    const connection = joined(peer.connection({ quietMs: 100, firstPauseMs: 60_000, lastPauseMs: 60_000 }));
    expect(await kindOf(connection.call('search', { query: 'seal' }))).toBe('Silent');
    expect(peer.calls('status')).toHaveLength(1);
    expect(connection.state).toMatchObject({ kind: 'offline', why: 'the daemon does not answer any more' });
  });

  it('is waited for when it is slow but alive', async () => {
    const peer = await peerThat(
      greeting((request, one, socket) => {
        if (request.method !== 'status') return;
        result(socket, request.id, {});
        const [search] = one.calls('search');
        if (one.calls('status').length === 3) result(socket, search?.id, answerTo('slow'));
      }),
    );
    const connection = joined(peer.connection({ quietMs: 60 }));
    expect((await connection.call('search', { query: 'slow' })).query).toBe('slow');
    expect(peer.calls('status')).toHaveLength(3);
  });

  it('is not waited for when it takes the connection and never says hello', async () => {
    const peer = await peerThat(() => undefined);
    const connection = joined(peer.connection({ helloMs: 80, firstPauseMs: 60_000, lastPauseMs: 60_000 }));
    await connection.wake();
    expect(connection.state).toMatchObject({ kind: 'offline', why: 'the daemon does not answer' });
  });

  it('may send a reply of eight megabytes, in chunks that cut letters in two', async () => {
    const preview = 'Größe 水泵 😀 '.repeat(450_000);
    const peer = await peerThat(
      greeting((request, _, socket) => {
        const line = JSON.stringify({ jsonrpc: '2.0', id: request.id, result: { ...answerTo('big'), preview } });
        const bytes = Buffer.from(`${line}\n`);
        expect(bytes.length).toBeGreaterThan(8_000_000);
        for (let at = 0; at < bytes.length; at += 65_537) socket.write(bytes.subarray(at, at + 65_537));
      }),
    );
    const connection = joined(peer.connection());
    const answer = (await connection.call('search', { query: 'big' })) as unknown as { preview: string };
    expect(answer.preview === preview).toBe(true);
  });

  it('has an abandoned call taken back, and its late answer dropped', async () => {
    const peer = await peerThat(
      greeting((request, one, socket) => {
        if (request.method === '$/cancelRequest') {
          result(socket, one.calls('search')[0]?.id, answerTo('late'));
        } else if (request.params.query === 'new') result(socket, request.id, answerTo('new'));
      }),
    );
    const connection = joined(peer.connection());
    await connection.wake();
    const controller = new AbortController();
    const late = connection.call('search', { query: 'late' }, { signal: controller.signal });
    const told = kindOf(late);
    controller.abort();
    expect(await told).toBe('Aborted');
    expect((await connection.call('search', { query: 'new' })).query).toBe('new');
    expect(peer.calls('$/cancelRequest')[0]?.params).toEqual({ id: peer.calls('search')[0]?.id });
  });

  it('is not called at all by a call that was given up before', async () => {
    const peer = await peerThat(greeting());
    const connection = joined(peer.connection());
    await connection.wake();
    expect(await kindOf(connection.call('search', { query: 'x' }, { signal: AbortSignal.abort() }))).toBe('Aborted');
    expect(peer.calls('search')).toEqual([]);
  });

  it('that refuses the whole connection is left with its own words', async () => {
    const peer = await peerThat(greeting((_, __, socket) => failure(socket, null as unknown as number, 'VaultragError')));
    const connection = joined(peer.connection({ firstPauseMs: 60_000, lastPauseMs: 60_000 }));
    expect(await kindOf(connection.call('search', { query: 'seal' }))).toBe('VaultragError');
    expect(connection.state).toMatchObject({ kind: 'offline', hint: 'try this' });
  });
});

describe('the end', () => {
  it('rejects what is under way, calls nobody back, and tries nothing any more', async () => {
    const peer = await peerThat(greeting());
    const connection = peer.connection();
    await connection.wake();
    const call = kindOf(connection.call('search', { query: 'seal' }));
    const states: ConnectionState[] = [];
    connection.onState((state) => states.push(state));
    connection.close();
    expect(await call).toBe('Closed');
    expect(states).toEqual([{ kind: 'closed' }]);
    await connection.wake();
    expect(await kindOf(connection.call('search', { query: 'seal' }))).toBe('Closed');
    await until(() => peer.sockets.every((socket) => socket.destroyed || socket.readableEnded), 'the socket has ended');
    expect(peer.sockets).toHaveLength(1);
  });

  it('in the middle of connecting leaves no connection behind', async () => {
    const peer = await peerThat(greeting());
    const connection = peer.connection();
    const waking = connection.wake();
    connection.close();
    await waking;
    expect(connection.state.kind).toBe('closed');
    await until(() => peer.sockets.every((socket) => socket.destroyed || socket.readableEnded), 'the socket has ended');
  });
});

describe('the pauses between attempts', () => {
  it('double up to the longest, and no attempt overlaps another', async () => {
    let attempts = 0;
    const connection = joined(
      new (await import('../../src/connection/connection')).Connection({
        find: () => {
          attempts += 1;
          return Promise.resolve([{ to: { path: '/nowhere/at/all.sock' }, tokenFile: '', source: 'a test' }]);
        },
        readToken: () => Promise.resolve(null),
        vault: '/notes',
        client: 'test/1',
        platform: process.platform,
        firstPauseMs: 10,
        lastPauseMs: 40,
        random: () => 1,
      }),
    );
    await Promise.all([connection.wake(), connection.wake(), connection.wake()]);
    expect(attempts).toBe(1);
    expect(connection.state).toMatchObject({ kind: 'offline', why: 'no daemon is running' });
    await until(() => attempts >= 5, 'it tries again and again');
  });
});
