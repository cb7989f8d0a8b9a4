# No container may set the login's user for the kernel's audit, which PAM requires.
sed -E -i 's/^(session[[:space:]]+)required([[:space:]]+pam_loginuid\.so)/\1optional\2/' /etc/pam.d/sshd
chsh -s /bin/bash nova
rm /etc/ssh/ssh_host_*
