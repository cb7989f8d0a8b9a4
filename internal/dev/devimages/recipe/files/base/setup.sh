# Kolla's users, all of them in every image, before any package brings its own.
members=
while read -r name id; do
	echo "$name:x:$id:$id::/var/lib/$name:/usr/sbin/nologin" >>/etc/passwd
	echo "$name:*:20000:0:99999:7:::" >>/etc/shadow
	test "$name" = kolla && continue
	echo "$name:x:$id:" >>/etc/group
	echo "$name:!::" >>/etc/gshadow
	members=$members,$name
done </usr/local/share/kolla-images/users
echo "kolla:x:42400:${members#,}" >>/etc/group
echo "kolla:!::${members#,}" >>/etc/gshadow
rm -r /usr/local/share/kolla-images
pwck -r -q
grpck -r

install -d -m 0755 /etc/kolla /var/lib/kolla /var/lib/kolla/config_files
install -d -m 2775 -g kolla /var/log/kolla
chmod 0440 /etc/sudoers.d/kolla
