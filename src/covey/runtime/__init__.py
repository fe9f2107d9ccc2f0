"""How the work is carried out on this machine. Nothing here knows what is computed.

No data goes through this folder. Every other folder may use these modules, which import nothing of covey but its
exceptions.

- `executor.py` runs independent tasks on several threads.
- `interruptible.py` cuts long work into steps, so that Ctrl-C ends it soon.
- `workers.py` says how values get to other processes, and how errors and warnings come back.
- `processes.py` calls functions in processes that can be ended.
- `memory.py` refuses work that cannot fit into the memory of this machine, and says how much values take.
- `parameters.py` says which parameters are numbers, and turns `random_state` into a generator.
- `progress.py` draws a progress bar on a terminal, and logs lines elsewhere.
- `callbacks.py` informs scikit-learn's callbacks, where the installed version has them.
- `libraries.py` imports optional libraries and says how to install a missing one.
- `file_errors.py` lets errors of the file system and of damaged files name the file.
- `wording.py` puts values and errors into messages.
"""
