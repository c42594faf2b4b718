import { describe, expect, it } from 'vitest';
import { Latest } from '../../src/connection/latest';

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

describe('the newest answer wins', () => {
  it('for whoever still waits for an older one, whichever comes first', async () => {
    const latest = new Latest<string>();
    const [first, second] = [deferred<string>(), deferred<string>()];
    const signals: AbortSignal[] = [];
    const asked = [first, second].map((one) =>
      latest.ask((signal) => {
        signals.push(signal);
        return one.promise;
      }),
    );
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
    first.resolve('old');
    second.resolve('new');
    expect(await Promise.all(asked)).toEqual(['new', 'new']);
  });

  it('and an older failure is nobody’s', async () => {
    const latest = new Latest<string>();
    const old = deferred<string>();
    const first = latest.ask(() => old.promise);
    const second = latest.ask(() => Promise.resolve('new'));
    old.reject(new Error('aborted'));
    expect(await Promise.all([first, second])).toEqual(['new', 'new']);
  });

  it('while the newest failure is everybody’s', async () => {
    const latest = new Latest<string>();
    const first = latest.ask(() => new Promise<string>(() => undefined));
    const second = latest.ask(() => Promise.reject(new Error('no')));
    const settled = await Promise.allSettled([first, second]);
    expect(settled.map((one) => one.status)).toEqual(['rejected', 'rejected']);
  });

  it('and a question given up is told so', async () => {
    const latest = new Latest<string>();
    const waiting = latest.ask(() => new Promise<string>(() => undefined));
    latest.cancel(new Error('given up'));
    await expect(waiting).rejects.toThrow('given up');
    expect(await latest.ask(() => Promise.resolve('next'))).toBe('next');
  });
});
