"""What the action plugins and the callback share: Ansible's side of the shell."""
