"""How the work is carried out on this machine. Nothing here knows what is computed.

No data goes through this folder. Every other folder may use these modules, and none of them imports another part of
covey.

- `executor.py` runs independent tasks on several threads.
- `steps.py` cuts long work into steps, so that Ctrl-C ends it soon.
- `disk.py` lets errors of the file system name the file.
- `workers.py` says how values get to other processes, and how errors come back.
- `apart.py` calls a function once in a process of its own, which can be ended.
- `answering.py` is such a process for many calls.
- `sizes.py` says how much memory values take.
- `prefetch.py` asks the processor for memory before a compiled loop needs it.
- `memory.py` refuses work that cannot fit into the memory of this machine.
- `random.py` turns scikit-learn's `random_state` into one of NumPy's generators.
- `progress.py` draws a progress bar on a terminal, and logs lines elsewhere.
- `callbacks.py` informs scikit-learn's callbacks, where the installed version has them.
- `wording.py` names a few of many values in a message.
- `extras.py` imports optional libraries and says how to install a missing one.
"""
