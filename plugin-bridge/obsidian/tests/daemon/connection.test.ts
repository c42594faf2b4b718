/** The connection against the real daemon, through its whole life: absent, started, stopped, killed, asleep, unserved. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { NotesChanged } from '../../../protocol/protocol';
import { Latest } from '../../src/connection/latest';
import type { Connection } from '../../src/connection/connection';
import { Home, until } from '../support/daemon';

const NOTES = { 'Pump.md': '# Pump\n\nThe seal leaks.\n', 'Signs.md': 'Before 😀😀 it comes the zebra 🦓 and the zebra.\n' };

let home: Home;
const open: Connection[] = [];

function connect(...args: Parameters<Home['connection']>): Connection {
  const connection = home.connection(...args);
  open.push(connection);
  return connection;
}

beforeAll(async () => {
  home = await Home.make(NOTES);
  await home.start();
});

afterEach(() => {
  for (const connection of open.splice(0)) connection.close();
});

afterAll(async () => {
  await home.remove();
});

describe('with the daemon', () => {
  it('a call connects, and spans cut out the words that match, after emoji', async () => {
    const connection = connect();
    const answer = await connection.call('search', { query: 'zebra' });
    const [hit] = answer.hits;
    expect(hit?.path).toBe('Signs.md');
    expect(hit?.spans.map((span) => hit.preview.slice(span.start, span.end))).toEqual(['zebra', 'zebra']);
    expect(connection.state.kind).toBe('ready');
    await until(() => connection.status, 'the status has come');
    expect(connection.status?.notes).toBe(2);
  });

  it('a refused call says why, and the connection goes on', async () => {
    const connection = connect();
    await expect(connection.call('get', { path: 'Nothing.md' })).rejects.toMatchObject({ kind: 'NoteNotFound' });
    expect((await connection.call('tags', {})).length).toBe(0);
  });

  it('a hundred keys in a row end with the answer to the last', async () => {
    const connection = connect();
    const latest = new Latest<string>();
    const asked = Array.from({ length: 100 }, (_, index) =>
      latest.ask(async (signal) => (await connection.call('search', { query: `seal ${index}` }, { signal })).query),
    );
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['seal 99']));
  });

  it('changed notes are told', async () => {
    const connection = connect();
    const changes: NotesChanged[] = [];
    connection.onNotes((change) => changes.push(change));
    await connection.wake();
    await home.write('New.md', 'Something new.');
    await until(() => changes.some((change) => change.paths.includes('New.md')), 'the change is told');
  });

  it('one that stands still is given up, and used again when it goes on', async () => {
    const connection = connect({ quietMs: 150, helloMs: 150 });
    await connection.wake();
    home.signal('SIGSTOP');
    try {
      await expect(connection.call('search', { query: 'seal' })).rejects.toMatchObject({ kind: 'Silent' });
    } finally {
      home.signal('SIGCONT');
    }
    await until(() => connection.state.kind === 'ready', 'it is used again');
    expect((await connection.call('search', { query: 'seal' })).hits.length).toBe(1);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('one that ends by %s is found again when it is started anew', async (how) => {
    const connection = connect();
    await connection.wake();
    const before = connection.state.kind === 'ready' ? connection.state.welcome.pid : 0;
    await home.stop(how);
    await until(() => connection.state.kind === 'offline', 'the loss is noticed');
    await expect(connection.call('search', { query: 'seal' })).rejects.toMatchObject({ kind: 'Offline' });
    await home.start();
    await until(() => connection.state.kind === 'ready', 'it is found again');
    expect(connection.state.kind === 'ready' && connection.state.welcome.pid !== before).toBe(true);
    expect((await connection.call('search', { query: 'seal' })).hits[0]?.path).toBe('Pump.md');
  });

  it('a vault that it does not serve is said to be so, and served when that is asked for', async () => {
    const other = await Home.make({ 'Valve.md': 'The valve sticks.' });
    try {
      const connection = connect({ vault: other.vault });
      await connection.wake();
      expect(connection.state).toMatchObject({ kind: 'unserved', hint: `vaultrag up ${other.vault}` });
      await connection.serve();
      expect(connection.state.kind).toBe('ready');
      await until(async () => (await connection.call('search', { query: 'valve' })).hits.length, 'it is read');
      await connection.call('remove_vault', { vault: other.vault });
    } finally {
      await other.remove();
    }
  });
});

describe('over TCP', () => {
  it('the token of the discovery file opens the door', async () => {
    const tcp = await Home.make(NOTES, '[embedder]\nprovider = "off"\n[server]\ntransport = "tcp"\n');
    try {
      await tcp.start();
      const connection = tcp.connection();
      open.push(connection);
      expect((await connection.call('search', { query: 'seal' })).hits[0]?.path).toBe('Pump.md');
      const without = tcp.connection({ readToken: () => Promise.resolve(null) });
      open.push(without);
      await without.wake();
      expect(without.state.kind).toBe('offline');
    } finally {
      await tcp.remove();
    }
  });
});
