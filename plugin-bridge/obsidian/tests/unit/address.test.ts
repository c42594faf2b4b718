import { describe, expect, it } from 'vitest';
import { addresses, dataFolders, fromDiscovery, tooLong, type Surroundings } from '../../src/connection/address';

function around(over: Partial<Surroundings> & { files?: Record<string, string> } = {}): Surroundings {
  const { files = {}, ...rest } = over;
  return { env: {}, platform: 'linux', home: '/home/ada', read: (path) => Promise.resolve(files[path] ?? null), ...rest };
}

const DISCOVERY = JSON.stringify({ pid: 1, version: '1', protocol: 1, sockets: ['/run/v.sock'], tcp_port: 0, token_file: '', vaults: [] });

async function paths(surroundings: Surroundings, setting = ''): Promise<unknown[]> {
  return (await addresses(surroundings, setting)).map(({ to }) => ('path' in to ? to.path : to.port));
}

describe('finding the daemon', () => {
  it('asks the environment, the settings, the discovery file and the usual place, in that order', async () => {
    const surroundings = around({
      env: { VAULTRAG_SOCKET: '/e.sock', XDG_RUNTIME_DIR: '/run/user/1' },
      files: { '/home/ada/.local/share/obsidian-rag/daemon.json': DISCOVERY },
    });
    expect(await paths(surroundings, ' ~/mine.sock ')).toEqual([
      '/e.sock',
      '/home/ada/mine.sock',
      '/run/v.sock',
      '/run/user/1/vaultrag/daemon.sock',
      '/home/ada/.local/share/obsidian-rag/run/daemon.sock',
    ]);
  });

  it('looks into the home folder even where a sandbox has another data folder', async () => {
    const surroundings = around({
      env: { XDG_DATA_HOME: '/home/ada/.var/app/md.obsidian.Obsidian/data' },
      files: { '/home/ada/.local/share/obsidian-rag/daemon.json': DISCOVERY },
    });
    expect((await paths(surroundings))[0]).toBe('/run/v.sock');
  });

  it('stays within VAULTRAG_HOME where that is set', async () => {
    expect(await paths(around({ env: { VAULTRAG_HOME: '/s/' } }))).toEqual(['/s/run/daemon.sock']);
    expect(dataFolders(around({ env: { VAULTRAG_HOME: '/s/' } }))).toEqual(['/s/data']);
  });

  it.each([
    ['darwin', {}, '/home/ada/Library/Application Support/obsidian-rag'],
    ['win32', { LOCALAPPDATA: 'C:\\Local' }, 'C:\\Local\\obsidian-rag'],
    ['linux', {}, '/home/ada/.local/share/obsidian-rag'],
  ])('knows where %s keeps data', (platform, env, folder) => {
    expect(dataFolders(around({ platform, env }))).toEqual([folder]);
  });

  it('takes a port with its token file', () => {
    const text = JSON.stringify({ sockets: [], tcp_port: 4000, token_file: '/t' });
    expect(fromDiscovery(text, 'x')).toEqual([{ to: { port: 4000 }, tokenFile: '/t', source: 'x' }]);
  });

  it.each(['', '{', 'null', '[]', '{"sockets": 3}', '{"sockets": [1, ""], "tcp_port": "x"}'])(
    'takes a damaged discovery file (%s) for none',
    (text) => {
      expect(fromDiscovery(text, 'x')).toEqual([]);
    },
  );

  it('says when a path is too long for a socket, counting bytes', () => {
    const address = { to: { path: `/${'é'.repeat(60)}` }, tokenFile: '', source: '' };
    expect(tooLong(address, 'linux')).toContain('121 bytes');
    expect(tooLong(address, 'win32')).toBe('');
    expect(tooLong({ to: { port: 1 }, tokenFile: '', source: '' }, 'linux')).toBe('');
  });
});
