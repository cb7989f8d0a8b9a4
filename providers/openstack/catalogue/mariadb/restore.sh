# Lets the next start of this member exchange its data for those in .restore. Where there are none,
# the member starts empty, and gets a copy from the first member.
mkdir -p /var/lib/mysql/.restore
rm -f /var/lib/mysql/.restore/begun
: > /var/lib/mysql/.restore/ready
sync -f /var/lib/mysql
