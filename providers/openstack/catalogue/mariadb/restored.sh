# Exchanges the data for those that kolla restore has put into .restore, and keeps the old ones in
# .replaced until the next restore. After a kill, the next start goes on.
cd /var/lib/mysql
if [ -e .restore/ready ]; then
  if [ ! -e .restore/begun ]; then
    rm -rf .replaced
    mkdir .replaced
    : > .restore/begun
  fi
  ls -A | grep -vxE '\.restore|\.replaced|lost\+found' | while read -r entry; do
    mv "$entry" .replaced/
  done
  sync -f .
  mv .restore/ready .restore/emptied
fi
if [ -e .restore/emptied ]; then
  ls -A .restore | grep -vxE 'begun|emptied' | while read -r entry; do
    mv ".restore/$entry" .
  done
  sync -f .
  rm -rf .restore
fi
